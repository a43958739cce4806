package rennet;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.SnapshotDescriptor;
import org.apache.spark.sql.delta.files.CdcAddFileIndex;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import scala.Option;
import scala.collection.immutable.Seq;

/** Makes Delta's own lists of files that are known, but for one thing: who asks for all of them gets them as
 * they are. Delta makes a DataFrame of them, plans it and compiles what reads it, at every scan. */
public final class KnownFiles {
    public TahoeBatchFileIndex ofTable(
            SparkSession spark, Seq files, DeltaLog log, Path path, SnapshotDescriptor at) {
        return new Table(spark, files, log, path, at);
    }

    public TahoeBatchFileIndex ofChange(
            SparkSession spark, Seq signed, DeltaLog log, Path path, SnapshotDescriptor at, Option filters) {
        return new Change(spark, signed, log, path, at, filters);
    }

    static boolean selects(Seq filters) {
        for (int i = 0; i < filters.length(); i++) {
            if (!Literal.TrueLiteral().equals(filters.apply(i))) return true;
        }
        return false;
    }

    static final class Table extends TahoeBatchFileIndex {
        Table(SparkSession spark, Seq files, DeltaLog log, Path path, SnapshotDescriptor at) {
            super(spark, "batch", files, log, path, at, false);
        }

        public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
            if (KnownFiles.selects(partitionFilters)) return super.matchingFiles(partitionFilters, dataFilters);
            return this.addFiles();
        }
    }

    /** Its files say themselves, as values of partitions, in which commit they came. */
    static final class Change extends CdcAddFileIndex {
        Change(SparkSession spark, Seq signed, DeltaLog log, Path path, SnapshotDescriptor at, Option filters) {
            super(spark, signed, log, path, at, filters);
        }

        public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
            if (KnownFiles.selects(partitionFilters)) return super.matchingFiles(partitionFilters, dataFilters);
            return this.addFiles();
        }
    }
}

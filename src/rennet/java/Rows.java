package rennet;

import org.apache.spark.sql.delta.actions.AddFile;
import scala.Option;
import scala.collection.immutable.Seq;

/** Adds up what the statistics of files say: each file would be a question to the JVM. */
public final class Rows {
    /** How many rows the files hold that are not marked as deleted; -1 if one does not say. */
    public long held(Seq files) {
        long all = 0;
        for (int i = 0; i < files.length(); i++) {
            Option rows = ((AddFile) files.apply(i)).numLogicalRecords();
            if (rows.isEmpty()) return -1;
            all += ((Number) rows.get()).longValue();
        }
        return all;
    }
}

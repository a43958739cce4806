package rennet;

import org.apache.spark.sql.catalyst.InternalRow;

/** Rows of one text each, as one text: each would be a question to the JVM, and to be made a row of Spark's
 * interface before that. */
public final class Texts {
    public StringBuilder joined(InternalRow[] rows, String separator) {
        StringBuilder all = new StringBuilder();
        for (InternalRow row : rows) {
            if (all.length() > 0) all.append(separator);
            all.append(row.getUTF8String(0).toString());
        }
        return all;
    }
}

package rennet;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import scala.collection.immutable.Seq;

/** Scala sequences in one question to the JVM. There is a method for each number of items: Py4J passes no
 * list. */
public final class Sequences {
    private static Seq made(Object... items) {
        return PythonUtils.toSeq(Arrays.asList(items));
    }

    public Seq of() {
        return made();
    }

    public Seq of(Object a) {
        return made(a);
    }

    public Seq of(Object a, Object b) {
        return made(a, b);
    }

    public Seq of(Object a, Object b, Object c) {
        return made(a, b, c);
    }

    public Seq of(Object a, Object b, Object c, Object d) {
        return made(a, b, c, d);
    }

    public Seq of(Object a, Object b, Object c, Object d, Object e) {
        return made(a, b, c, d, e);
    }

    public Seq of(Object a, Object b, Object c, Object d, Object e, Object f) {
        return made(a, b, c, d, e, f);
    }

    public Seq of(Object a, Object b, Object c, Object d, Object e, Object f, Object g) {
        return made(a, b, c, d, e, f, g);
    }

    public Seq of(Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h) {
        return made(a, b, c, d, e, f, g, h);
    }

    public Seq listed(List items) {
        return PythonUtils.toSeq(items);
    }

    public Seq joined(Seq first, Seq second) {
        return (Seq) first.appendedAll(second);
    }
}

package rennet;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEvent;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEventListener;

/** Counts what Spark is about to change in its catalog, and what it has changed. */
public final class CatalogChanges implements ExternalCatalogEventListener {
    private final AtomicLong events = new AtomicLong();

    public void onEvent(ExternalCatalogEvent event) {
        events.incrementAndGet();
    }

    public long count() {
        return events.get();
    }
}

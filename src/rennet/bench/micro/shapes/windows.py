"""Shapes with windows over the days of a sensor."""

from __future__ import annotations

from rennet.bench.micro.shape import Change, Hand, Shape
from rennet.bench.micro.shapes.tables import DEARER, READINGS, UPSERT

WEEK = """SUM(amount) OVER (PARTITION BY sensor ORDER BY day
                   RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS week"""

MOVING_WINDOW = Shape(
    "moving_window",
    "the sum of the last seven days at each of 500 days of a sensor; scattered days change",
    (READINGS,),
    f"SELECT id, sensor, day, amount, {WEEK} FROM {{readings}}",
    (Change("readings", DEARER, updates=0.8, deletes=0.1, inserts=0.1),),
    Hand(
        (f"MERGE INTO {{target}} t USING fresh s ON t.id = s.id {UPSERT}",),
        fresh=f"""WITH touched AS (SELECT DISTINCT sensor, day FROM {{changes_of_readings}}),
                     near AS (SELECT /*+ BROADCAST(k) */ r.* FROM {{readings}} r LEFT SEMI JOIN touched k
                              ON r.sensor = k.sensor AND r.day BETWEEN k.day - 6 AND k.day + 6),
                     summed AS (SELECT id, sensor, day, amount, {WEEK} FROM near)
                SELECT /*+ BROADCAST(k) */ s.*, false AS gone FROM summed s LEFT SEMI JOIN touched k
                ON s.sensor = k.sensor AND s.day BETWEEN k.day AND k.day + 6
                UNION ALL
                SELECT id, sensor, day, amount, NULL, true FROM {{changes_of_readings}}
                WHERE _change_type = 'delete'""",
    ),
)

RUNNING_TOTAL = Shape(
    "running_total",
    "the total up to each day of a sensor; new days arrive",
    (READINGS,),
    """SELECT id, sensor, day, amount, SUM(amount) OVER (PARTITION BY sensor ORDER BY day) AS total
       FROM {readings}""",
    (Change("readings", inserts=1.0),),
    Hand(
        (
            """WITH new AS (SELECT id, sensor, day, amount FROM {changes_of_readings}),
                    last AS (SELECT /*+ BROADCAST(k) */ t.sensor, MAX_BY(t.total, t.day) AS total
                             FROM {target} t LEFT SEMI JOIN new k ON t.sensor = k.sensor GROUP BY t.sensor)
               INSERT INTO {target}
               SELECT n.id, n.sensor, n.day, n.amount,
                      COALESCE(l.total, 0) + SUM(n.amount) OVER (PARTITION BY n.sensor ORDER BY n.day)
               FROM new n LEFT JOIN last l ON n.sensor = l.sensor""",
        )
    ),
    together=True,
)

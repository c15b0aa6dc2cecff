"""Rows that belong to no policy: there must be none after one was deleted."""

from typing import Any

import psycopg

from hierbandits.service.postgres_tables import OF_A_SHARED_POLICY


def leftovers(db: psycopg.Connection[Any]) -> list[str]:
    """What is left of policies that are gone, one fault for each table."""
    faults = []
    for table in OF_A_SHARED_POLICY:
        if db.execute("SELECT to_regclass(%s)", (table,)).fetchone() == (None,):
            continue  # no program has made it yet
        sql = (
            f"SELECT count(*) FROM {table} AS found WHERE NOT EXISTS "
            "(SELECT FROM shared_policies WHERE id = found.policy)"
        )
        ((number,),) = db.execute(sql).fetchall()
        if number:
            faults.append(f"{number} rows of {table} belong to no policy")
    return faults

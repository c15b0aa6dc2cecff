"""What a life of policies does to a rollout, and what must be so after it."""

from hierbandits.service.api_problem import Problem
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_state import RolloutState

ERRORS = Guardrail(name="errors", at_most=0.02)


class RolloutLife:
    """Metrics and changes of a rollout: a part of `service_simulation.Life`."""

    async def _measure(self):
        """Metrics of some decisions; a value that was given before stays."""
        ids = self._some(list(self.told), 3)
        name = "exposure" if self._settings["ratio_check"] == "exposures" else "errors"
        name = str(self._rng.choice([name, "errors"]))
        rows = [(id, {name: float(self._rng.random())}) for id in ids]
        turns = self._turns
        for (id, values), reply in zip(
            rows, await self._ask("call", lambda: turns.live.rollout.measure(rows)), strict=True
        ):
            self._is_measured(id, name, values[name], reply)

    def _is_measured(self, id, name, value, reply):
        if isinstance(reply, Problem):
            assert reply.code == "conflict", reply.detail
        else:
            status = reply.values[name]
            known = self.measured.setdefault((id, name), value)
            assert known == value, (status, known, value)

    async def _measure_again(self):
        turns = self._turns
        for id, name in self._some(list(self.measured)):
            rows = [(id, {name: self.measured[id, name]})]
            (reply,) = await self._ask("call", lambda rows=rows: turns.live.rollout.measure(rows))
            assert reply.values == {name: "duplicate"}

    async def _roll(self):
        """Somebody changes the rollout; what cannot be is refused."""
        action = str(self._rng.choice(["start", "start", "hold", "resume", "rollback"]))
        steps = [RampStep(0.3, 40.0), RampStep(1.0)] if action == "start" else []
        turns = self._turns
        reply = await self._ask(
            "call", lambda: turns.live.rollout.act(action, steps, "", "somebody")
        )
        assert reply is None or (reply.status, reply.code) == (409, "wrong_phase")

    def _check_rollout(self, live, read):
        """The rollout is what the ledger says, and what is kept of it says the same."""
        state, reads, self._storage.reads = RolloutState(), self._storage.reads, 0.0
        state.take(self._ledger.events(live.record.id))
        assert state.to_dict() == live.rollout.state.to_dict()
        kept = self._snapshots.load_rollout(live.record, self._ledger, until=live.number)
        assert kept.to_dict() == state.to_dict()
        self._storage.reads = reads
        assert read.changes == [(one["what"], one["by"]) for one in state.audit]
        self.counts["guardrails crossed"] += any("guardrail" in by for _, by in read.changes)

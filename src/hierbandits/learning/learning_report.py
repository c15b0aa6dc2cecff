"""What was learned from a log, finding by finding, for people and for programs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning import verdict
from hierbandits.learning.calibration import Calibration
from hierbandits.learning.check import Check
from hierbandits.learning.checks_section import checks_section, on_checks, unseen_section
from hierbandits.learning.context_section import context_section
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.forest_section import forest_section, lookup
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outlier_rows import OutlierRows, outlier_rows_section
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.promise_section import (
    NO_PROMISE,
    Setting,
    on_promises,
    promises_section,
)
from hierbandits.learning.promises import Promises
from hierbandits.learning.sections import (
    Section,
    calibration_section,
    comparison_section,
    outliers_section,
    scores_section,
    shrinkage_section,
    similarity_section,
)
from hierbandits.learning.sentence import Claim, Sentence, texts
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.similarity_verdict import on_similarity
from hierbandits.learning.task_similarity import Similarity
from hierbandits.learning.together_sections import together_sections
from hierbandits.logs import LogSummary, Start
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.report import Report
from hierbandits.types import Name

if TYPE_CHECKING:
    from rich.console import Console

PER_TASK = (
    *("tasks", "population", "rows", "weight", "mean", "std"),
    *("surprise", "freedom", "p_value", "adjusted", "flagged", "odd", "odd_z"),
    *("others_mean", "others_cov"),
)
"""Fields with an entry for each task, which are in tasks.parquet and outliers.parquet."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LearningReport:
    """All the findings about a log and the prior learned from it."""

    start: Start  # for an agent to start from
    prior: GaussianHierarchy | GeneralizedHierarchy  # for new tasks: mu is as given the log
    before_log: GaussianHierarchy | GeneralizedHierarchy  # to call `learn_past` with its sums
    log: LogSummary
    num_rows: int
    num_tasks: int
    arms: tuple[Name, ...] | None  # in the order of the prior, if armed
    similarity: Similarity
    structure: StructureChoice | None  # None if the caller chose it
    correlations: Correlations | None  # None if the prior has none
    comparison: Comparison
    shrinkage: Shrinkage
    outliers: Outliers
    outlier_rows: OutlierRows | None  # None if no task stands out
    calibration: Calibration | None  # None if no rows were held out
    checks: tuple[Check, ...]  # of what the model assumes
    has_time: bool  # whether rows have times, and propensities
    has_propensities: bool
    promises: Promises | None  # None if there were no runs
    settings: dict[str, Any]
    rewards: str | None = None  # what family they belong to, or look like, in words

    @property
    def paragraphs(self) -> tuple[tuple[Sentence, ...], ...]:
        """The findings, a few sentences for each; a sentence says what it claims and its odds."""
        models = verdict.on_models(self.comparison, self.similarity, self.checks)
        similar = on_similarity(self.similarity)
        similar += verdict.on_agreement(models[0], self.similarity)
        similar += verdict.on_noises(self.structure, self.similarity, self.checks)
        findings = [models, [s for s in similar if s not in models]]
        if self.rewards is not None:
            findings.append([Sentence(Claim.FAMILY, self.rewards)])
        if self.correlations is not None:
            together = verdict.on_correlations(self.correlations, self.structure, self.similarity)
            findings.append(together)
        if self.structure is not None and not self.structure.most_factors:
            findings.append(verdict.on_not_sought(self.structure, self.similarity))
        findings.append(verdict.on_outliers(self.outliers))
        if self.calibration is not None:
            judged = verdict.on_calibration(self.calibration)
            findings.append(judged + verdict.on_scores(self.calibration))
        findings.append(on_checks(self.checks))
        if self.promises is not None:
            findings.append(on_promises(self.promises, self._setting))
        elif self.settings["runs"] and not self.similarity.told.any():
            findings.append([NO_PROMISE])
        return tuple(tuple(sentences) for sentences in findings if sentences)

    @property
    def verdict(self) -> tuple[str, ...]:
        """The findings in plain words."""
        return tuple(" ".join(texts(sentences)) for sentences in self.paragraphs)

    @property
    def claims(self) -> dict[Claim, Sentence]:
        """The first sentence of each claim that is made."""
        made = [sentence for sentences in self.paragraphs for sentence in sentences]
        return {sentence.claim: sentence for sentence in reversed(made)}

    @property
    def _setting(self) -> Setting:
        """What words on promises must not forget."""
        return Setting(
            self.comparison.log_odds("hierarchical", "independent"),
            self.start.prior.widths_known,
            self.similarity.named(self.similarity.tasks_seen == 0),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the numbers of each task are in tasks and outliers.parquet."""
        outliers, shrinkage, comparison = self.outliers, self.shrinkage, self.comparison
        parts = {
            "log": self.log,
            "rows": self.num_rows,
            "tasks": self.num_tasks,
            "arms": self.arms,
            "verdict": self.verdict,
            "sentences": [s for sentences in self.paragraphs for s in sentences],
            "encoder": None if self.start.encoder is None else self.start.encoder.to_dict(),
            "prior": self.prior,
            "similarity": plain(self.similarity),
            "structure": None if self.structure is None else self.structure.to_dict(),
            "correlations": plain(self.correlations),
            "comparison": {
                "log_evidence": comparison.log_evidence,
                "probability": comparison.probability,
                "best": comparison.best,
                "typical_widths": comparison.typical,
                "edges": comparison.edges,
                **plain(comparison),
            },
            "shrinkage": {**plain(shrinkage, PER_TASK), "weight": shrinkage.quantiles()},
            "outliers": {**plain(outliers, PER_TASK), "flagged": outliers.flagged_tasks},
            "calibration": plain(self.calibration),
            "checks": self.checks,
            "promises": plain(self.promises),
            "settings": self.settings,
        }
        data: dict[str, Any] = plain(parts)
        return data

    def sections(self) -> list[Section]:
        """The findings as they are shown."""
        encoder = self.start.encoder
        shown = [
            comparison_section(self.comparison, self.similarity),
            *([] if encoder is None else [context_section(encoder)]),
            similarity_section(self.similarity),
            *together_sections(self.correlations, self.structure, self.similarity),
        ]
        if self.similarity.told.any():  # otherwise nobody knows what is a task's own
            shown.append(forest_section(self.shrinkage, self.similarity))
            shown.append(shrinkage_section(self.shrinkage))
        shown.append(outliers_section(self.outliers))
        if self.outlier_rows is not None:
            shown.append(outlier_rows_section(self.outlier_rows))
        if self.calibration is not None:
            shown.append(calibration_section(self.calibration))
            shown.append(scores_section(self.calibration))
        shown.append(checks_section(self.checks))
        if self.promises is not None:
            shown.append(promises_section(self.promises, self._setting))
        unseen = unseen_section(
            has_time=self.has_time,
            has_propensities=self.has_propensities,
            is_armed=self.similarity.is_armed,
        )
        shown.append(unseen)
        return shown

    def show(self, console: "Console | None" = None) -> None:
        """Print the verdict and the main tables to a terminal."""
        from rich.console import Console

        console = console or Console()
        for paragraph in self.verdict:
            console.print(paragraph, markup=False, highlight=False)
        console.print()
        page = Report("learn", "", {})
        for section in self.sections():
            if section.brief:
                page.table(section.heading, section.columns, section.rows)
        page.show(console)

    def _repr_html_(self) -> str:
        brief = [section for section in self.sections() if section.brief]
        tables = [(section.heading, section.columns, section.rows) for section in brief]
        return notebook_card(repr(self), self.verdict, tables)

    def __repr__(self) -> str:
        best = self.comparison.best
        return (
            f"<LearningReport on {self.num_rows:,} rows of {self.num_tasks:,} tasks: the {best} "
            f"model fits best, probability {self.comparison.probability[best]:.3g}>"
        )

    def write(self, folder: str | Path) -> Path:
        """Write a page, figures, tables, report.json, prior.json, start.hb; returns the page."""
        return self.report().write(folder)

    def report(self) -> Report:
        """A page with tables, figures, frames and JSON."""
        title = f"{self.num_rows:,} rows of {self.num_tasks:,} tasks: what they have in common"
        page = Report("learn", title, self.settings)
        answer, _, certainty = self.verdict[0].partition(". ")
        page.answer(f"{answer}.", certainty)
        for place, section in enumerate(self.sections()):
            if place > 0:
                page.heading(section.heading)
                page.text(*section.words[:1])
            if section.draw is not None:
                page.figure(section.name, section.draw(), section.caption)
            if place == 0:
                page.heading("What else the log tells")
                page.text(*self.verdict[1:])
                self.log.add_to(page)
                page.heading(section.heading)
            if section.name == "forest":
                first = self.outliers.flagged_places
                page.insert(lookup(self.shrinkage, self.similarity, first))
            page.table("", section.columns, section.rows)
            page.text(*(word for word in section.words[1:] if word not in self.verdict[0]))
        page.text(
            'To start an agent from what was learned: agent = hb.Agent(hb.Start.load("start.hb")).'
        )
        page.file("start.hb", self.start.save)
        page.frame("tasks", self.shrinkage.frame(self.similarity.told))
        page.frame("outliers", self.outliers.frame())
        if self.outlier_rows is not None:
            page.frame("outlier_rows", self.outlier_rows.frame())
        if self.promises is not None:
            page.frame("regret", self.promises.frame())
            for promise in self.promises.promises:
                page.row(experiment="learn", runs=self.promises.runs, **promise.to_dict())
        page.document("report", self.to_dict())
        page.document("prior", self.prior.to_dict())
        return page

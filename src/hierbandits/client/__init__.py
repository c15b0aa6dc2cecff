"""A client of the decision service, which imports no server; httpx does the talking."""

from hierbandits.client.async_client import AsyncClient
from hierbandits.client.client import Client
from hierbandits.client.client_calls import Wanted
from hierbandits.client.client_errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    ServiceError,
    Unauthorized,
    Unavailable,
)
from hierbandits.client.client_replies import (
    AuditPage,
    BeliefRow,
    CandidateEvaluation,
    CandidateFindings,
    DecisionRecord,
    JudgedPolicy,
    MetricsReceipt,
    PolicyInfo,
    PolicyVersion,
    PromotionInfo,
    RewardInterval,
    RewardReceipt,
    RolloutInfo,
    ServedDecision,
    TaskBelief,
    TaskPage,
    VersionInfo,
)
from hierbandits.client.reward_buffer import RewardBuffer

__all__ = [
    "AsyncClient",
    "AuditPage",
    "BadRequest",
    "BeliefRow",
    "CandidateEvaluation",
    "CandidateFindings",
    "Client",
    "Conflict",
    "DecisionRecord",
    "Forbidden",
    "Gone",
    "JudgedPolicy",
    "MetricsReceipt",
    "NotFound",
    "PolicyInfo",
    "PolicyVersion",
    "PromotionInfo",
    "RewardBuffer",
    "RewardInterval",
    "RewardReceipt",
    "RolloutInfo",
    "ServedDecision",
    "ServiceError",
    "TaskBelief",
    "TaskPage",
    "Unauthorized",
    "Unavailable",
    "VersionInfo",
    "Wanted",
]

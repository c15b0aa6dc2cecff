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
    BeliefRow,
    DecisionRecord,
    PolicyInfo,
    PolicyVersion,
    RewardReceipt,
    ServedDecision,
    TaskBelief,
    TaskPage,
    VersionInfo,
)
from hierbandits.client.reward_buffer import RewardBuffer

__all__ = [
    "AsyncClient",
    "BadRequest",
    "BeliefRow",
    "Client",
    "Conflict",
    "DecisionRecord",
    "Forbidden",
    "Gone",
    "NotFound",
    "PolicyInfo",
    "PolicyVersion",
    "RewardBuffer",
    "RewardReceipt",
    "ServedDecision",
    "ServiceError",
    "TaskBelief",
    "TaskPage",
    "Unauthorized",
    "Unavailable",
    "VersionInfo",
    "Wanted",
]

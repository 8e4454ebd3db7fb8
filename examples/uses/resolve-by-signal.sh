#!/bin/sh
# Approves a call with nothing but Temporal's command line: works while every worker and the API are down.
# The conversation is the one that start-from-a-job.ts begins for order 42.
set -eu
# #region signal
temporal workflow signal --workflow-id conversation:default:order-42 --name resolveToolCall \
  --input '{"toolCallId":"call_2","resolution":{"type":"approve"},"actor":{"id":"ops"}}'
# #endregion signal

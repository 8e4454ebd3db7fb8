#!/bin/sh
# Approves a call with Temporal's command line alone, which works while every worker and the API are down.
# start-from-a-job.ts starts this conversation, for order 42.
set -eu
# #region signal
temporal workflow signal --workflow-id conversation:default:order-42 --name resolveToolCall \
  --input '{"toolCallId":"call_2","resolution":{"type":"approve"},"actor":{"id":"ops"}}'
# #endregion signal

#!/bin/sh
# Inspects conversations with Temporal's command line alone. Queries need a worker, the other commands do not.
set -eu
# #region inspect
# Lists the conversations with waiting calls.
temporal workflow list --query 'ColloquyStatus = "awaiting_input"'
# Describes one of them.
temporal workflow describe --workflow-id conversation:default:order-42
# Prints its waiting calls, with audience and deadline.
temporal workflow query --workflow-id conversation:default:order-42 --name pending
temporal workflow query --workflow-id conversation:default:order-42 --name snapshot
# #endregion inspect

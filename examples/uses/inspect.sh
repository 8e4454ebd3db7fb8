#!/bin/sh
# Looks at conversations with nothing but Temporal's command line. Queries are answered by a worker, the rest needs none.
set -eu
# #region inspect
# Which conversations wait for somebody?
temporal workflow list --query 'ColloquyStatus = "awaiting_input"'
# What is this one doing?
temporal workflow describe --workflow-id conversation:default:order-42
# For whom does it wait, for what, until when?
temporal workflow query --workflow-id conversation:default:order-42 --name pending
temporal workflow query --workflow-id conversation:default:order-42 --name snapshot
# #endregion inspect

import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { logLevels } from '../observability/level.ts'
import { logFormats } from '../observability/log-formats.ts'

/** What is logged, and how. `--log-level` and `--log-format` win. */
export const logSchema = configurationObject({
  level: v.optional(v.picklist(logLevels, 'must be debug, info, warn, error or silent'), 'info'),
  /** Absent: `text` on a terminal, `json` everywhere else. */
  format: v.exactOptional(v.picklist(logFormats, 'must be json or text')),
})

import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { logLevels } from '../observability/level.ts'
import { logFormats } from '../observability/log-formats.ts'

/** The level and format of the log. `--log-level` and `--log-format` override them. */
export const logSchema = configurationObject({
  level: v.optional(v.picklist(logLevels, 'must be debug, info, warn, error or silent'), 'info'),
  /** Defaults to `text` on a terminal and `json` everywhere else. */
  format: v.exactOptional(v.picklist(logFormats, 'must be json or text')),
})

import type { RecordOptions } from '@grantry/core'

/** For records of accounts, which an operator keeps after restoring an old copy of the storage. */
export const keptRecord: RecordOptions = Object.freeze({ keptAfterRestore: true })

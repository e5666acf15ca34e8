import { describe } from 'vitest'
import { describeWith } from './describe-with.ts'
import { postgresqlMissing } from './postgresql-process.ts'

/** Like `describe`, for tests that need PostgreSQL. */
export const describeWithPostgresql = (name: string, define: () => void): void =>
  describeWith(postgresqlMissing, name, define, describe)

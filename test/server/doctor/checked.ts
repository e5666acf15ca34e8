import { expect } from 'vitest'
import type { Finding } from '../../../packages/server/src/check-rules/rule.ts'
import { printed } from '../printed.ts'

/** Runs `grantry check --json` on a configuration. */
export async function checked(
  file: string,
): Promise<{ readonly code: number | null; readonly findings: readonly Finding[] }> {
  const { code, out, err } = await printed('check', '--json', '--config', file)
  expect(err).toBe('')
  return { code, findings: JSON.parse(out).findings }
}

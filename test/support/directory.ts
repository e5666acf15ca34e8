import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a directory that lives until the end of the run, for what several test files of a process share: a hook of
 * Vitest would remove it after the first of them. `scripts/temporary-directory.ts` removes it.
 */
export const sharedDirectory = (name: string): string => mkdtempSync(join(tmpdir(), `grantry-${name}-`))

/** The temporary directory that is not in memory. The one in memory is below /dev, which Deno reads only with `-A`. */
export const diskTemporaryDirectory = (): string => process.env.GRANTRY_DISK_TMPDIR ?? tmpdir()

/** A separate directory for one run. */
export const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'grantry-test-'))

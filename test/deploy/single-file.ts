import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the built `grantry.mjs`. Builds it first if it is older than its sources. */
export async function singleFile(): Promise<string> {
  await promisify(execFile)(process.execPath, [`${root}/scripts/start.js`, '--version'])
  return `${root}/packages/server/dist/grantry.mjs`
}

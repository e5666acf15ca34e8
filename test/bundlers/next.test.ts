/**
 * Password hashes are verified in real bundles of both bundlers of Next.js: the threads for argon2 and bcrypt need no
 * file beside the bundle.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const next = `${folder}node_modules/next/dist/bin/next`

function missing(): string | undefined {
  if (!existsSync(next)) return 'Install Next.js: npm ci --prefix test/bundlers'
  return existsSync(`${folder}../../packages/users/dist`) ? undefined : 'packages/users is not built: npm run build'
}

describeWith(missing(), 'password hashes in Next.js', () => {
  test.each(['webpack', 'turbopack'])('of other programs are verified in a bundle of %s', async (bundler) => {
    // Next.js writes below the folder of the application only.
    const directory = `dist/${bundler}-${process.pid}`
    onTestFinished(() => rm(`${folder}${directory}`, { recursive: true, force: true }))
    await promisify(execFile)(process.execPath, [next, 'build', `--${bundler}`], {
      cwd: folder,
      env: {
        ...process.env,
        // Vitest sets another one, with which Next.js does not build.
        NODE_ENV: 'production',
        NEXT_TELEMETRY_DISABLED: '1',
        BUNDLE_DIRECTORY: directory,
        HASH_VECTORS: JSON.stringify({ password, hashes: foreignHashes }),
      },
    })
    const response = await readFile(`${folder}${directory}/server/app/hashes.body`, 'utf8')
    expect(JSON.parse(response)).toEqual({ verified: Object.keys(foreignHashes).length + 1, failed: [] })
  })
})

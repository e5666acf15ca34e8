import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { smallFiles } from '../../scripts/structure/small-files.ts'
import { pageScripts, programs, sources } from './source-files.ts'

/** The small files that are understood without their only user, and what each is. */
const understoodAlone: Readonly<Record<string, string>> = {
  'packages/adapters/src/http-bridge/client-error.ts': 'the response to bytes that are not HTTP',
  'packages/console/src/page/curl.js': 'a request as a command',
  'packages/console/src/page/exact-json.js': 'numbers that JSON does not keep',
  'packages/console/src/page/pending-sign-in.js': 'the only user of sessionStorage',
  'packages/console/src/shown-event.ts': 'the members of events that a page may receive',
  'packages/core/src/credentials/login-concurrency.ts': 'a limit',
  'packages/core/src/parts/problem.ts': 'RFC 9457',
  'packages/core/src/tenants/limit-openings.ts': 'a queue',
  'packages/create-grantry/src/next-files.ts': 'the files of one framework',
  'packages/mail/src/oauth.ts': 'XOAUTH2',
  'packages/resource-server/src/api-metadata.ts': 'RFC 8414',
  'packages/resource-server/src/bounded-cache.ts': 'a cache',
  'packages/server/src/getting-started.ts': 'the first commands of an operator',
  'packages/server/src/provider/error-page.ts': 'a page',
  'packages/server/src/provider/home-page.ts': 'a page',
  'packages/server/src/provider/missing-clients.ts': 'the end of clients that were removed',
  'packages/storage-drivers/src/redis/turn.ts': 'writes of one turn of the event loop',
  'packages/storage-drivers/src/sqlite/backup.ts': 'a copy of the database',
  'packages/users/src/password-hash/hash-functions.ts': 'a program that builds include as text',
  'plugins/account/accepted.ts': 'a check at the start, with the sign-in',
  'plugins/authorization-endpoint/shown-page.ts': 'Fetch Metadata',
  'plugins/back-channel-logout/recipients.ts': 'records of sessions',
  'plugins/client-metadata/lifetime.ts': 'RFC 9111',
  'plugins/registration/host.ts': 'functions for hosts',
  'plugins/self-service/breached-passwords.ts': 'a function for hosts',
  'plugins/sign-in/way-tools.ts': 'what other plugins call',
  'plugins/workload-identity/client-rule.ts': 'a check of clients',
  'plugins/workload-identity/issuer-keys.ts': 'SPIFFE bundles and OpenID discovery',
}

test('a small file with one user is a part of it, or understood alone', () => {
  const files = [...sources, ...pageScripts]
  expect(smallFiles(files, programs).filter((path) => !Object.hasOwn(understoodAlone, path))).toEqual([])
  const paths = new Set(files.map(({ path }) => path))
  expect(Object.keys(understoodAlone).filter((path) => !paths.has(path))).toEqual([])
})

const folder = 'packages/a/src/b'
const importsFile = "import { c } from './c.ts'\n"
const lines = (count: number): string => 'x()\n'.repeat(count)
const small = { path: `${folder}/c.ts`, text: lines(10) }
test.each([
  ['a small file with one user', 10, 100, true],
  ['a file of 60 lines', 60, 100, false],
  ['a file whose user has no room for it', 59, 181, false],
])('finds %s: %i lines beside %i, %s', (_what, length, ofUser, isFound) => {
  const user = { path: `${folder}/user.ts`, text: importsFile + lines(ofUser - 1) }
  const file = { ...small, text: lines(length) }
  expect(smallFiles([user, file], [])).toEqual(isFound ? [file.path] : [])
})

test.each([
  ['with two users', { first: importsFile, second: importsFile }],
  ['without a user in the sources', {}],
  ['with a user in another folder', { '../d/user': "import { c } from '../b/c.ts'\n" }],
  ['that its user loads when it needs it', { user: "const { c } = await import('./c.ts')\n" }],
  ['that its user only exports', { user: "export { c } from './c.ts'\n" }],
  ['of which a comment imports a type', { user: importsFile, other: "/** @import { C } from './c.ts' */\n" }],
])('leaves out a file %s', (_what, users) => {
  const others = Object.entries(users).map(([name, text]) => ({ path: posix.join(folder, `${name}.ts`), text }))
  expect(smallFiles([...others, small], [])).toEqual([])
})

test('leaves out a file that a test imports', () => {
  const user = { path: `${folder}/user.ts`, text: importsFile }
  expect(smallFiles([user, small], [])).toHaveLength(1)
  expect(smallFiles([user, small], [{ path: 'test/c.test.ts', text: `import '../${small.path}'` }])).toEqual([])
})

test('leaves out a file whose user lists files of one kind', () => {
  const path = 'packages/core/src/endpoints'
  const list = { path: `${path}/built-in.ts`, text: importsFile }
  expect(smallFiles([list, { ...small, path: `${path}/c.ts` }], [])).toEqual([])
})

// Users in a table and in a directory, on the other runtimes.

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { bundleWithPackages } from '../support/bundle-with-packages.ts'
import { describeWithLdap, type LdapServer, ldapServers } from '../support/ldap-server.ts'
import { postgresqlMissing } from '../support/postgresql-process.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { password } from '../users/hash-vectors.ts'
import { openSqlite } from './databases.ts'
import { directoryLdif, mapping as ldapMapping } from './directory.ts'
import type { Order } from './programs/sign-ins.ts'
import { accountsScript, mapping as sqlMapping } from './users-table.ts'

const runtimes: readonly (readonly [string, string, readonly string[]])[] = [
  ['Node.js', process.execPath, []],
  ['Node.js 24', runtimeExecutable('node24/bin/node'), []],
  ['Bun', runtimeExecutable('.bin/bun'), []],
  ['Deno', runtimeExecutable('.bin/deno'), ['run', '--allow-all', '--no-lock']],
]

describeWithLdap('users in databases', () => {
  const startLdap = ldapServers()
  const startPostgresql = postgresqlServers()
  let directory: LdapServer
  let sql: Order['sql'] = []

  beforeAll(async () => {
    directory = await startLdap(directoryLdif)
    const file = openSqlite()
    for (const statement of accountsScript(false)) await file.run(statement)
    sql = [{ input: { ...file.where, ...sqlMapping }, password }]
    if (postgresqlMissing !== undefined) return
    const server = await startPostgresql()
    for (const statement of accountsScript(true)) await server.query(statement)
    sql = [...sql, { input: { url: server.url, ...sqlMapping }, password }]
  })

  for (const [name, executable, parameters] of runtimes) {
    describeWithRuntime(`on ${name}`, executable, () => {
      test('sign in, also with TLS', async () => {
        const { url, secureUrl, ca, otherCa } = directory
        const credentials = { password: 'alice-password' }
        const order: Order = {
          sql,
          ldap: [
            { input: { url, ...ldapMapping }, ...credentials },
            { input: { url: secureUrl, ...ldapMapping }, ca, ...credentials },
            { input: { url, startTls: true, ...ldapMapping }, ca, ...credentials },
            { input: { url: secureUrl, ...ldapMapping }, ca: otherCa, ...credentials },
            { input: { url, startTls: true, ...ldapMapping }, ca: otherCa, ...credentials },
            { input: { url: secureUrl.replace('127.0.0.1', 'localhost'), ...ldapMapping }, ca, ...credentials },
            {
              input: { url: url.replace('127.0.0.1', 'localhost'), startTls: true, ...ldapMapping },
              ca,
              ...credentials,
            },
          ],
        }
        const program = await bundleWithPackages(new URL('./programs/sign-ins.ts', import.meta.url))
        try {
          const { stdout } = await promisify(execFile)(executable, [...parameters, program, JSON.stringify(order)])
          const signedIn = (sub: string) => [sub, true, true, { email: 'alice@example.com' }]
          const alice = signedIn('11111111-1111-4111-8111-111111111111')
          const refused = expect.stringMatching(/^Error: users: the LDAP server .* is not available/u)
          expect(JSON.parse(stdout)).toEqual([
            ...sql.map(() => signedIn('a-1')),
            ...[alice, alice, alice],
            ...[refused, refused, refused, refused],
          ])
        } finally {
          await rm(dirname(program), { recursive: true })
        }
      })
    })
  }
})

// `users: { "driver": ... }` in the configuration of a server: mistakes have a path, and `grantry check` finds them.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Finding } from '../../packages/server/src/check-rules/rule.ts'
import { healthy, written } from '../server/doctor/configurations.ts'
import { printed } from '../server/printed.ts'
import { openSqlite } from './databases.ts'
import { mapping as ldapMapping } from './directory.ts'
import { accountsScript, mapping as sqlMapping } from './users-table.ts'

async function checked(users: object): Promise<readonly Finding[]> {
  const { file } = written({ ...healthy, users })
  const { out, err } = await printed('check', '--json', '--config', file)
  expect(err).toBe('')
  const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(out)
  // The file is readable, and can contain a password.
  return findings.filter(({ id }) => id !== 'file-readable')
}

const sql = { driver: 'sql', ...sqlMapping }
const ldap = { driver: 'ldap', url: 'ldaps://127.0.0.1:1', ...ldapMapping }

test.each([
  [{ driver: 'mongodb' }, 'users.driver must be one of sql, ldap'],
  [{ driver: 1 }, 'users.driver must be one of sql, ldap'],
  [{ ...sql, file: 'app.db', tabel: 'x' }, 'users.tabel is not a known option; did you mean table?'],
  [{ ...sql, file: 'app.db', columns: { ...sql.columns, sub: '' } }, 'users.columns.sub must not be empty'],
  [{ ...sql, file: 'app.db', columns: { sub: 'id', username: 'n' } }, 'users.columns.password'],
  [{ ...sql, file: 'app.db', url: 'postgresql://u:p@127.0.0.1/x' }, 'users must have either url'],
  [{ ...sql, url: 'mysql://127.0.0.1/app' }, 'users.url must be a URL such as postgresql:'],
  [{ ...sql, url: 'postgresql://u:p@127.0.0.1/x', ca: 'missing.pem' }, 'users.ca: cannot read'],
  [{ ...ldap, bindPasword: 'x' }, 'users.bindPasword is not a known option; did you mean bindPassword?'],
  [{ ...ldap, url: 'ldap://ldap.example.com' }, 'users would send passwords over the network in plain text'],
  [{ ...ldap, attributes: {} }, 'users.attributes.username'],
  [{ ...ldap, bindPassword: `$\{LDAP_PASSWORD}` }, 'users.bindPassword needs the environment variable LDAP_PASSWORD'],
  [{ ...ldap, bindPassword: undefined }, 'users.bindPassword is required, or users.bindPasswordFile'],
  [{ ...ldap, bindPasswordFile: 'x' }, 'users.bindPasswordFile: there is a password, too'],
  [{ ...ldap, bindPassword: undefined, bindPasswordFile: 'missing' }, 'users.bindPasswordFile: cannot read'],
  [{ ...sql, url: 'postgresql://u@127.0.0.1/x', passwordFile: 'missing' }, 'users.passwordFile: cannot read'],
])('a mistake is reported with its path: %#', async (users, message) => {
  const findings = await checked(users)
  expect(findings.map(({ id, reason }) => ({ id, reason }))).toContainEqual({
    id: 'configuration-invalid',
    reason: expect.stringContaining(message),
  })
})

test('a database that can be used has no finding', async () => {
  const database = openSqlite()
  for (const statement of accountsScript(false)) await database.run(statement)
  expect(await checked({ ...sql, ...database.where })).toEqual([])
})

test.each([
  [
    'a missing file',
    { ...sql, file: 'nothing.db' },
    { id: 'users-unusable', reason: expect.stringContaining('does not exist') },
  ],
  ['a directory that is down', ldap, { id: 'users-unusable', reason: expect.stringContaining('is not available') }],
  [
    'a table without TLS on another machine',
    { ...sql, url: 'postgresql://u@192.0.2.1/app', operationTimeout: 0.05 },
    { id: 'users-unencrypted', where: 'users.url' },
  ],
  [
    'a directory without TLS on another machine',
    { ...ldap, url: 'ldap://192.0.2.1', plaintext: true, operationTimeout: 0.05 },
    { id: 'users-unencrypted', where: 'users.url' },
  ],
])('%s is found', async (_name, users, finding) => {
  expect(await checked(users)).toContainEqual(expect.objectContaining(finding))
})

test('a configuration file with the password of a directory is one with secrets', async () => {
  const { file } = written({ ...healthy, users: ldap })
  expect(readFileSync(file, 'utf8')).toContain('the-reader-password')
  const { out } = await printed('check', '--json', '--config', file)
  expect(JSON.parse(out).findings).toContainEqual(expect.objectContaining({ id: 'users-unusable', severity: 'error' }))
})

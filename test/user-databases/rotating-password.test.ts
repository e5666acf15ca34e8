// A password that changes while the server runs: connections that begin afterwards use what the file says then.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { Attribute, Change, Client } from 'ldapts'
import { expect, onTestFinished, test } from 'vitest'
import { userDatabaseSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUserDatabase } from '../../packages/server/src/users/user-databases.ts'
import { administrator, describeWithLdap, ldapServers } from '../support/ldap-server.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { password } from '../users/hash-vectors.ts'
import { directoryLdif, mapping as directoryMapping, reader } from './directory.ts'
import { accountsScript, quotedTable, mapping as tableMapping } from './users-table.ts'

/** Users whose database has its password in a file. `change` writes another one. */
async function usersWith(settings: { readonly driver: string }, first: string) {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-password-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const change = (content: string): void => writeFileSync(join(directory, 'password'), content)
  change(`${first}\n`)
  const users = await configuredUserDatabase(
    parseConfiguration(userDatabaseSchema(settings), settings, 'users'),
    directory,
  )
  onTestFinished(() => users.close())
  const signIn = (username: string, typed: string) =>
    Promise.resolve(users.authenticate({ username, password: typed })).then((user) => user?.sub)
  return { change, signIn }
}

describeWithPostgresql('the password for a table of users', () => {
  const start = postgresqlServers()

  test('needs no restart', async () => {
    const server = await start()
    for (const statement of accountsScript(true)) await server.query(statement)
    await server.query("CREATE ROLE rotating LOGIN PASSWORD 'first/p#ss%41'")
    await server.query(`GRANT SELECT ON ${quotedTable} TO rotating`)
    const url = server.urlOf('postgres', 'rotating', 'not-used')
    const settings = { driver: 'sql', url, passwordFile: 'password', ...tableMapping }
    const { change, signIn } = await usersWith(settings, 'first/p#ss%41')
    expect(await signIn('alice', password)).toBe('a-1')
    await server.query("ALTER ROLE rotating PASSWORD 'second?w:o@rd'")
    change('second?w:o@rd')
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'")
    await expect.poll(() => signIn('alice', password).catch(() => undefined)).toBe('a-1')
  })
})

describeWithLdap('the password of the account that searches a directory', () => {
  const start = ldapServers()

  test('needs no restart', async () => {
    const server = await start(directoryLdif)
    const { bindPassword, ...mapping } = directoryMapping
    const settings = { driver: 'ldap', url: server.url, bindPasswordFile: 'password', ...mapping }
    const { change, signIn } = await usersWith(settings, bindPassword)
    const alice = await signIn('alice', 'alice-password')
    expect(alice).toBeTypeOf('string')
    const client = new Client({ url: server.url })
    await client.bind(administrator.bindDn, administrator.bindPassword)
    const modification = new Attribute({ type: 'userPassword', values: ['another-password'] })
    await client.modify(reader.bindDn, new Change({ operation: 'replace', modification }))
    await client.unbind()
    change('another-password')
    await server.kill()
    await server.restart()
    await expect.poll(() => signIn('alice', 'alice-password').catch(() => undefined)).toBe(alice)
  })
})

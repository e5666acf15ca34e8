// grantry storage migrate: the table is created by an account that may do that, and the server uses another one.
import { expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'

test('grantry storage migrate has nothing to do for files', async () => {
  expect(await printed('storage', 'migrate', '--config', file(directories()))).toEqual({
    code: 0,
    err: '',
    out: 'Nothing to do: the storage filesystem creates what it needs by itself.\n',
  })
})

describeWithPostgresql('grantry storage migrate', () => {
  test('prints SQL that an administrator runs for a user that may not create tables', async () => {
    const server = await startPostgresql()
    await server.query("CREATE ROLE app LOGIN PASSWORD 'the-password'")
    const url = server.urlOf('postgres', 'app', 'the-password')
    const path = file({ driver: 'postgresql', url, schema: 'tokens' })

    const refused = await printed('storage', 'migrate', '--config', path)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain('this user may not create it')
    expect(refused.err).not.toContain('the-password')

    const { code, out } = await printed('storage', 'migrate', '--print', '--config', path)
    expect(code).toBe(0)
    await server.query(out)
    await server.query('GRANT USAGE ON SCHEMA tokens TO app')
    await server.query('GRANT SELECT, INSERT, UPDATE, DELETE ON tokens.grantry_items TO app')
    const running = await serve(path)
    expect(await running.refresh((await running.login()).refresh_token)).toBe(200)
    expect((await printed('storage', 'migrate', '--config', path)).out).toMatch(/^The table is ready \(postgresql: /u)
  })

  test('creates the table for a server that may not', async () => {
    const { url } = await startPostgresql()
    const path = file({ driver: 'postgresql', url, migrate: false })
    await expect(serve(path)).rejects.toThrow('run "grantry storage migrate", or set migrate to true')
    expect((await printed('storage', 'migrate', '--config', path)).code).toBe(0)
    expect(await (await serve(path)).isActive('unknown')).toBe(false)
  })

  test('changes the settings of a table of an earlier version, but not those of an operator, and keeps its rows', async () => {
    const server = await startPostgresql()
    const path = file({ driver: 'postgresql', url: server.url })
    const running = await serve(path)
    const { refresh_token } = await running.login()
    const settings = async () =>
      (await server.query("SELECT reloptions FROM pg_class WHERE relname = 'grantry_items'"))[0]?.reloptions
    await server.query('ALTER TABLE grantry_items RESET (autovacuum_vacuum_scale_factor)')
    await server.query(
      'ALTER TABLE grantry_items SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05)',
    )
    expect((await printed('storage', 'migrate', '--config', path)).code).toBe(0)
    expect(await settings()).toEqual(['autovacuum_vacuum_scale_factor=0.02'])
    await server.query('ALTER TABLE grantry_items SET (fillfactor = 80)')
    expect((await printed('storage', 'migrate', '--config', path)).code).toBe(0)
    expect(await settings()).toEqual(['autovacuum_vacuum_scale_factor=0.02', 'fillfactor=80'])
    expect(await running.refresh(refresh_token)).toBe(200)
  })
})

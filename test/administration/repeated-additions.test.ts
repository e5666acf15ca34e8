// Additions with an Idempotency-Key that reach four processes on one PostgreSQL at the same time, and one whose process
// is killed after it has stored the key, before it has stored the entry.
import { sha256Of } from '@grantry/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { post, type Service, startService } from './service.ts'

const ops = {
  clientId: 'ops',
  secrets: [{ sha256: sha256Of('ops-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['admin'],
}
const more = {
  clients: [ops],
  plugins: [{ name: 'sign-in' }, { name: 'admin', clients: ['ops'] }],
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Makes each insertion of a client wait for a lock. */
const holdClients = `
  CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.value LIKE '%"client":{%' THEN PERFORM pg_advisory_xact_lock(1); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER hold BEFORE INSERT ON public.grantry_items FOR EACH ROW EXECUTE FUNCTION public.hold()`
const isHeld = "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

describeWithPostgresql('an addition with an Idempotency-Key', () => {
  const closings: (() => unknown)[] = []
  const start = postgresqlServers()
  let postgresql: PostgresqlServer
  let service: Service
  let token: string
  beforeAll(async () => {
    postgresql = await start()
    service = await startService({ driver: 'postgresql', url: postgresql.url }, closings, more)
    const form = { grant_type: 'client_credentials', scope: 'admin' }
    const [answer] = await service.everywhere((origin) => post(`${origin}/connect/token`, ['ops', 'ops-secret'], form))
    token = String(answer?.body.access_token)
  })
  afterAll(async () => {
    for (const close of closings.reverse()) await close()
  })

  async function send(origin: string, path: string, key?: string, body?: object): Promise<Answer> {
    const response = await fetch(`${origin}/admin/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const itemsOf = async (path: string) => {
    const [answer] = await service.everywhere((origin) => send(origin, path))
    return answer?.body.items as readonly Record<string, unknown>[]
  }

  test.each([
    ['clients', 'client', { clientId: 'batch', grantTypes: ['client_credentials'], scopes: ['api1'] }],
    ['scopes', 'scope', { name: 'api2' }],
    // Without `sub`: each addition would get another one.
    ['users', 'user', { username: 'alice', password: 'correct horse battery' }],
  ])('adds one of %s, whichever processes get it, and returns it to all', async (segment, kind, body) => {
    const key = `add-${segment}`
    const sendAll = async () =>
      (
        await service.everywhere((origin) => Promise.all([1, 2, 3].map(() => send(origin, `/${segment}`, key, body))))
      ).flat()
    const first = await sendAll()
    const added = first.filter(({ status }) => status === 201)
    expect(added.length).toBeGreaterThan(0)
    for (const { status, body: problem } of first.filter((answer) => !added.includes(answer))) {
      expect([status, problem.detail]).toEqual([409, expect.stringContaining('is in progress; try again')])
    }
    // Each of them has the only copy of a secret.
    const [firstAdded] = added
    expect(new Set([...added, ...(await sendAll())].map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify(firstAdded)]),
    )
    const others = await service.everywhere((origin) => send(origin, `/${segment}`, key, { ...body, tags: ['other'] }))
    expect(others.map(({ status }) => status)).toEqual([422, 422, 422, 422])
    expect(await itemsOf(`/${segment}`)).toHaveLength(1)
    expect((await itemsOf(`/audit?kind=${kind}`)).map(({ action }) => action)).toEqual([`${kind}_added`])
  })

  test('can be repeated a minute after its process was killed before it stored the entry', async () => {
    const body = { clientId: 'killed', grantTypes: ['client_credentials'], scopes: ['api1'] }
    const [victim = '', survivor = ''] = await service.everywhere(async (origin) => origin)
    const add = (origin: string) => send(origin, '/clients', 'add-killed', body)
    await postgresql.query(holdClients)
    const holder = new pg.Client({ connectionString: postgresql.url })
    closings.push(() => holder.end())
    await holder.connect()
    await holder.query('SELECT pg_advisory_lock(1)')
    const lost = add(victim).catch(() => 'lost')
    await until(
      'the entry is about to be stored',
      async () => (await postgresql.query(`SELECT 1 ${isHeld}`)).length > 0,
    )
    await service.kill(victim)
    expect(await lost).toBe('lost')
    await postgresql.query(`SELECT pg_terminate_backend(pid) ${isHeld}`)
    await postgresql.query('DROP TRIGGER hold ON public.grantry_items')

    expect(await add(survivor)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('in progress') } })
    const inProgress = `value LIKE '%"fingerprint"%' AND value NOT LIKE '%"reply"%'`
    const life = `SELECT extract(epoch FROM ends - now())::float AS life FROM public.grantry_items WHERE ${inProgress}`
    const [left] = await postgresql.query(life)
    expect(left?.life).toBeLessThanOrEqual(60)
    await postgresql.query(`UPDATE public.grantry_items SET ends = now() WHERE ${inProgress}`)
    const added = await add(survivor)
    expect(added).toMatchObject({ status: 201, body: { clientId: 'killed', secret: expect.any(String) } })
    expect(await add(survivor)).toEqual(added)
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    expect(await post(`${survivor}/connect/token`, ['killed', String(added.body.secret)], form)).toMatchObject({
      status: 200,
    })
  })
})

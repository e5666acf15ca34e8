// Attack: after a failover of its address, a process reads from a replica that does not know the last revocations, and
// accepts a token that was revoked.
import { expect, onTestFinished, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { startProxy } from '../support/redis-proxy.ts'

describeWithPostgresql('a failover of the address of PostgreSQL', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()

  test('nothing is read from a late replica, and all writes are there once it is the primary', async () => {
    const primary = await start()
    const address = { port: primary.port }
    const proxy = await startProxy(address)
    onTestFinished(() => proxy.stop())
    const driver = driverOf({ url: primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`) })
    await driver.setItem('token', 'active', { ttl: 600 })
    const replica = await start({ replicaOf: primary })
    const stored = () => replica.query("SELECT count(*)::int AS items FROM grantry_items WHERE key <> ''")
    expect(await stored()).toEqual([{ items: 1 }])

    await replica.query('SELECT pg_wal_replay_pause()')
    await driver.setItem('revoked', '{}', { ttl: 600 })
    expect(await stored()).toEqual([{ items: 1 }])

    /** Lets the address lead to a server. */
    const leadTo = ({ port }: { readonly port: number }): void => {
      address.port = port
      proxy.cut()
    }
    const values: unknown[] = []
    const operations = [
      () => driver.getItem('token'),
      () => driver.getItems([{ key: 'token' }, { key: 'revoked' }]),
      () => driver.hasItem('revoked'),
      () => driver.getKeys(),
      () => driver.insertItem('spent', '{}', { ttl: 60 }),
    ]
    leadTo(replica)
    for (const operate of operations) {
      const refusal = () =>
        operate().then(
          (value) => values.push(value),
          ({ message }) => message,
        )
      await expect.poll(refusal).toMatch(/is read-only: it is a replica, .*\(25006\)$/u)
    }
    expect(values).toEqual([])

    leadTo(primary)
    await expect.poll(() => driver.hasItem('revoked').catch(() => undefined)).toBe(true)

    await replica.query('SELECT pg_wal_replay_resume()')
    await expect.poll(stored).toEqual([{ items: 2 }])
    await primary.kill()
    await replica.query('SELECT pg_promote()')
    leadTo(replica)
    await expect.poll(() => driver.hasItem('revoked').catch(() => undefined)).toBe(true)
    expect(await driver.getItem('token')).toBe('active')
    await expect.poll(() => driver.insertItem('spent', '{}', { ttl: 60 }).catch(() => undefined)).toBe(true)
    // The old primary is back, as a second one.
    await primary.restart(['default_transaction_read_only=on'])
    leadTo(primary)
    await expect.poll(() => driver.getItem('spent').catch(({ message }) => message)).toMatch(/is read-only/u)
  })
})

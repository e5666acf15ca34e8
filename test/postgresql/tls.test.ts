// TLS to PostgreSQL with a private authority. A connection that is not verified would send the password, and every
// token record, to any server that answers at the address.
import { beforeAll, expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { presentCertificate, privateAuthority, serverCertificate } from '../support/postgresql-tls.ts'

describeWithPostgresql('TLS of the PostgreSQL driver', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()
  const ca = privateAuthority()
  let server: PostgresqlServer
  let url: string

  beforeAll(async () => {
    server = await start()
    url = `${server.url}?sslmode=verify-full`
  })

  test('is required when the url asks for it', async () => {
    await expect(driverOf({ url }).open()).rejects.toThrow(
      'is not available: The server does not support SSL connections',
    )
  })

  test('verifies the certificate with the given authority only, and encrypts', async () => {
    await presentCertificate(server, serverCertificate(ca))
    const driver = driverOf({ url, connection: { tls: { ca: ca.pem } } })
    await driver.setItem('key', 'x', { ttl: 60 })
    const sql =
      "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'grantry'"
    expect(await server.query(sql)).toEqual([{ ssl: true }])
    await driver.dispose()
    const otherAuthority = privateAuthority()
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      const unverified = { url: `${server.url}?sslmode=${mode}` }
      await expect(driverOf(unverified).open()).rejects.toThrow(/is not available: .*certificate/u)
      const wrong = driverOf({ ...unverified, connection: { tls: { ca: otherAuthority.pem } } })
      await expect(wrong.open()).rejects.toThrow(/is not available: /u)
    }
    // The option alone also turns TLS on.
    await driverOf({ url: server.url, connection: { tls: { ca: ca.pem } } }).open()
    await expect(driverOf({ url: server.url, connection: { tls: {} } }).open()).rejects.toThrow(/certificate/u)
  })

  test('verifies the name of the server', async () => {
    // Some versions of pg verify the name localhost instead of an IP address.
    await presentCertificate(server, serverCertificate(ca, [2, 'localhost']))
    const driver = driverOf({ url, connection: { tls: { ca: ca.pem } } })
    await expect
      .poll(() => driver.open().catch(({ message }) => message))
      .toMatch(/127\.0\.0\.1 is not in the cert's list/u)
  })
})

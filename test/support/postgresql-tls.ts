import { chownSync, statSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { alternativeNames, authority, certificate, commonName, type Issued } from '../mtls/certificates.ts'
import { dataFile, type PostgresqlServer } from './postgresql-server.ts'

const loopback = Uint8Array.of(127, 0, 0, 1)

export const privateAuthority = (): Issued =>
  certificate({ subject: commonName('private authority'), extensions: authority })

/** Returns a certificate for the address of the test servers, or for another name of it. */
export const serverCertificate = (by: Issued, name: [number, string | Uint8Array] = [7, loopback]): Issued =>
  certificate({ by, subject: commonName('db'), extensions: [alternativeNames(name)] })

/** Turns TLS on, with this certificate. */
export async function presentCertificate(server: PostgresqlServer, issued: Issued): Promise<void> {
  const { uid, gid } = statSync(server.directory)
  for (const [name, content] of Object.entries({ 'server.crt': issued.pem, 'server.key': issued.keyPem })) {
    writeFileSync(dataFile(server, name), content, { mode: 0o600 })
    chownSync(dataFile(server, name), uid, gid)
  }
  const reloads = server.log().split('received SIGHUP').length
  await server.query('ALTER SYSTEM SET ssl = on')
  await server.query('SELECT pg_reload_conf()')
  await expect.poll(() => server.log().split('received SIGHUP').length).toBeGreaterThan(reloads)
  await expect.poll(() => server.query('SHOW ssl')).toEqual([{ ssl: 'on' }])
}

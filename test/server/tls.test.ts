// The ready server terminates TLS itself.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { checkTls } from '@grantry/adapters/node'
import * as client from 'openid-client'
import { afterEach, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { tlsSource } from '../../packages/server/src/configuration/tls.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { certificate, commonName, type Issued } from '../mtls/certificates.ts'
import { current, fetchWith, root, serverCertificate, signedByRoot } from '../mtls/https.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { healthy, written } from './doctor/configurations.ts'

const files = { certificate: 'server.pem', key: 'server.key', clientAuthorities: 'clients-ca.pem' }
const tls = { ...files, requestCertificates: true }
const clientCertificate = signedByRoot({ subject: commonName('payments') })

let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
})

function writeFiles(directory: string, { pem, keyPem }: Issued): void {
  writeFileSync(join(directory, files.certificate), pem)
  writeFileSync(join(directory, files.key), keyPem)
  writeFileSync(join(directory, files.clientAuthorities), root.pem)
}

async function start(change: object = {}, write = writeFiles): Promise<string> {
  const port = await reservedPort()
  const issuer = `https://127.0.0.1:${port}`
  const { file, directory } = written({
    ...healthy,
    issuer,
    storage: { driver: 'memory' },
    clients: [
      {
        clientId: 'payments',
        tlsClientAuthSubjectDn: 'CN=payments',
        tlsClientCertificateBoundAccessTokens: true,
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
      },
    ],
    plugins: [{ name: 'mtls' }],
    tls,
    ...change,
  })
  write(directory, serverCertificate)
  server = await startServer({ loaded: await loadConfiguration(file, {}), port, observe: () => {} })
  return issuer
}

describe('the ready server with tls', () => {
  test('authenticates openid-client by its certificate, and binds the token', async () => {
    const issuer = await start()
    const options = { [client.customFetch]: fetchWith(clientCertificate) as client.CustomFetch }
    const config = await client.discovery(new URL(issuer), 'payments', {}, client.TlsClientAuth(), options)
    const { access_token: token } = await client.clientCredentialsGrant(config, { scope: 'api1' })
    const { claims } = (await server?.provider.inspect(token)) ?? {}
    expect(claims).toMatchObject({ cnf: { 'x5t#S256': clientCertificate.thumbprint } })
    expect(server?.commands).toContain(`curl -s ${issuer}/health/ready`)
  })

  test.each([
    ['a forged certificate', certificate({ subject: commonName('payments'), ...current })],
    ['no certificate', undefined],
  ])('refuses %s', async (_, presented) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'payments', scope: 'api1' })
    const url = `${await start()}/connect/token`
    expect((await fetchWith(presented)(url, { method: 'POST', body })).status).toBe(401)
  })

  test.each<[string, typeof writeFiles, string]>([
    ['missing', () => {}, 'server.pem: it cannot be read (ENOENT)'],
    [
      'of another key',
      (directory, of) => writeFiles(directory, { ...of, keyPem: clientCertificate.keyPem }),
      'tls: the files are not',
    ],
    ['not PEM', (directory, of) => writeFiles(directory, { ...of, pem: 'x' }), 'server.pem: it is not PEM'],
    [
      'empty',
      (directory, of) => {
        writeFiles(directory, of)
        writeFileSync(join(directory, files.clientAuthorities), '')
      },
      'clients-ca.pem: it is not PEM',
    ],
  ])('does not start with files that are %s', async (_, write, message) => {
    await expect(start({}, write)).rejects.toThrow(message)
  })
})

/** Returns the name of the server in its certificate. */
const nameAt = (issuer: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(issuer).port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.once('error', reject)
  })

test('16.9 files that change are read again, and invalid ones are reported', async () => {
  const { directory } = written({})
  writeFiles(directory, serverCertificate)
  const source = tlsSource(tls, directory, { checkTls }, 10)
  const seen: string[] = []
  const failures: string[] = []
  const stop = source.watch(
    (content) => seen.push(content.certificate),
    (message) => failures.push(message),
  )
  try {
    const next = signedByRoot({ subject: commonName('renewed') })
    writeFileSync(join(directory, files.certificate), next.pem)
    await eventually(() =>
      expect(failures.at(-1) ?? '').toContain('tls: the files are not valid PEM, or the key is not'),
    )
    writeFileSync(join(directory, files.key), next.keyPem)
    await eventually(() => expect(seen.at(-1)).toBe(next.pem))
    writeFileSync(join(directory, files.clientAuthorities), '')
    await eventually(() => expect(failures.at(-1) ?? '').toContain('clients-ca.pem: it is not PEM'))
  } finally {
    stop()
  }
})

test('16.9 files that change before they are watched are read again', async () => {
  const { directory } = written({})
  writeFiles(directory, serverCertificate)
  const source = tlsSource(tls, directory, { checkTls }, 10)
  source.read()
  const next = signedByRoot({ subject: commonName('renewed') })
  writeFiles(directory, next)
  const seen: string[] = []
  const stop = source.watch(
    (content) => seen.push(content.certificate),
    () => {},
  )
  try {
    await eventually(() => expect(seen).toEqual([next.pem]))
  } finally {
    stop()
  }
})

test('16.9 a running server uses the new files', async () => {
  let directory = ''
  const issuer = await start({}, (written, of) => {
    directory = written
    writeFiles(written, of)
  })
  expect(await nameAt(issuer)).toBe('localhost')
  writeFiles(directory, signedByRoot({ subject: commonName('renewed') }))
  await eventually(async () => expect(await nameAt(issuer)).toBe('renewed'))
})

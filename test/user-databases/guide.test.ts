// The examples of docs/guides/users.md: their tables and configurations sign users in on the pages of a running server.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basic } from '@grantry/testing'
import { hashPassword } from '@grantry/users/password-hash'
import { afterEach, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { codeBlocks } from '../docs/code-blocks.ts'
import { describeWithLdap, ldapServers } from '../support/ldap-server.ts'
import { startServer } from '../support/patient-server.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { createHttpBrowser, signInOverHttp } from '../support/sign-in.ts'
import { directoryLdif } from './directory.ts'

const blocks = codeBlocks('docs/guides/users.md')
const blockOf = (info: string): string => {
  const block = blocks.find((candidate) => candidate.info === info)
  if (block === undefined) throw new Error(`the guide has no block ${info}`)
  return block.code
}

const open: GrantryServer[] = []
afterEach(() => Promise.all(open.splice(0).map((server) => server.close(0))))

/** Starts a server with an example, at an issuer of this machine. */
async function start(code: string, environment: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-guide-'))
  const port = await reservedPort()
  const file = join(directory, 'grantry.config.json')
  // A busy machine is no outage.
  const patient = code.replace('"users": {', '"users": { "operationTimeout": 60,')
  writeFileSync(file, patient.replace('https://id.example.com', `http://127.0.0.1:${port}`))
  try {
    const loaded = await loadConfiguration(file, environment)
    const server = await startServer({ loaded, port, observe: () => {} })
    open.push(server)
    return server.provider.issuer
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const request = {
  client_id: 'web',
  redirect_uri: 'https://web.example.com/callback',
  scope: 'openid profile email',
  state: 's',
}

async function claimsAfterSignIn(issuer: string, credentials: readonly [string, string]): Promise<unknown> {
  const end = await signInOverHttp(issuer, request, credentials)
  const tokens = await fetch(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(['web', 'web-secret']) },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: end.searchParams.get('code') ?? '',
      redirect_uri: request.redirect_uri,
    }),
  }).then((response) => response.json())
  const info = await fetch(`${issuer}/connect/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  return info.json()
}

/** The text of the page after a sign-in. */
async function pageAfter(issuer: string, username: string, password: string): Promise<string> {
  const { visit, submit } = createHttpBrowser()
  const { redirect_uri: end } = request
  const page = await visit(
    `${issuer}/connect/authorize?${new URLSearchParams({ response_type: 'code', ...request })}`,
    end,
  )
  const { status, html } = await submit(page.html, { username, password }, end)
  return `${status} ${html}`
}

describeWithPostgresql('the example of a table', () => {
  const startPostgresql = postgresqlServers()

  test('signs a user in, and an inactive one not', async () => {
    const server = await startPostgresql()
    await server.query(blockOf('postgresql'))
    await server.query(
      'INSERT INTO accounts (email, email_verified, display_name, password_hash, status) VALUES ($1, true, $2, $3, $4), ($5, true, $2, $3, $6)',
      ['Alice@example.com', 'Alice', await hashPassword('alice-password'), 'active', 'bob@example.com', 'blocked'],
    )
    const code = blockOf('sql').replace('db.example.com/app?sslmode=verify-full', `127.0.0.1:${server.port}/postgres`)
    expect(code).not.toBe(blockOf('sql'))
    const issuer = await start(code, { DATABASE_PASSWORD: 'reader-password' })
    expect(await claimsAfterSignIn(issuer, ['alice@example.com', 'alice-password'])).toEqual({
      sub: expect.stringMatching(/^[\da-f-]{36}$/u),
      name: 'Alice',
      email: 'Alice@example.com',
      email_verified: true,
    })
    const refused = await pageAfter(issuer, 'bob@example.com', 'alice-password')
    expect(refused).toContain('name="password"')
    await server.kill()
    const unavailable = await pageAfter(issuer, 'alice@example.com', 'alice-password')
    expect(unavailable).toMatch(/^503 /u)
    expect(unavailable).not.toContain('127.0.0.1:5')
  })
})

describeWithLdap('the example of a directory', () => {
  const startLdap = ldapServers()

  test('signs a user in, and a disabled one not', async () => {
    const server = await startLdap(directoryLdif)
    const code = blockOf('ldap').replace('ldaps://ldap.example.com', server.url)
    const issuer = await start(code, { LDAP_PASSWORD: 'the-reader-password' })
    expect(await claimsAfterSignIn(issuer, ['alice@example.com', 'alice-password'])).toEqual({
      sub: '11111111-1111-4111-8111-111111111111',
      name: 'alice',
      email: 'alice@example.com',
    })
    expect(await pageAfter(issuer, 'bob', 'bob-password')).toContain('name="password"')
  })

  test('with a private authority and ldaps, relative to the configuration', async () => {
    const server = await startLdap(directoryLdif)
    const ca = join(mkdtempSync(join(tmpdir(), 'grantry-ca-')), 'ca.pem')
    writeFileSync(ca, server.ca)
    const code = blockOf('ldap').replace('"ldaps://ldap.example.com"', `"${server.secureUrl}", "ca": "${ca}"`)
    const issuer = await start(code, { LDAP_PASSWORD: 'the-reader-password' })
    expect(await claimsAfterSignIn(issuer, ['alice', 'alice-password'])).toMatchObject({ name: 'alice' })
    rmSync(ca)
    await expect(start(code, { LDAP_PASSWORD: 'the-reader-password' })).rejects.toThrow(
      /users\.ca: cannot read .*ca\.pem/u,
    )
  })

  test('a start fails while nothing listens, and closes what it has opened', async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => listener.once('listening', resolve))
    const address = listener.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await new Promise((resolve) => listener.close(resolve))
    const code = blockOf('ldap').replace('ldaps://ldap.example.com', `ldap://127.0.0.1:${port}`)
    await expect(start(code, { LDAP_PASSWORD: 'x' })).rejects.toThrow(
      /users: the LDAP server .* is not available: ECONNREFUSED/u,
    )
  })
})

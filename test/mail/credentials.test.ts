// How the mailer signs in to the server: with a password of any characters, or with an access token.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { smtpMailer } from '@grantry/mail'
import { afterEach, describe, expect, test } from 'vitest'
import { withEnvironment } from '../../packages/server/src/configuration/environment.ts'
import { startSmtpServer } from '../support/smtp-server.ts'

const message = { to: 'bob@example.com', subject: 'Hello', text: 'Hello Bob', html: '<p>Hello Bob</p>' }
const from = 'id@example.com'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Sends a mail, and returns it as it arrived. */
async function sent(options: (host: string) => object) {
  const { port, mails, close } = await startSmtpServer()
  closing.push(close)
  const mailer = smtpMailer({ url: '', from, ...options(`127.0.0.1:${port}`) })
  closing.unshift(mailer.close)
  await mailer.send(message)
  await mailer.send(message)
  return mails[0]
}

const passwords = [
  'a/b',
  'a#b',
  'a?b',
  'a%b',
  'a%41b',
  'a@b:c',
  'a b&c+d',
  'pässwörd',
  '[::1]',
  'a\\b',
  '%',
  '//',
  '"\'<>',
]

describe.each(passwords)('the password %j', (password) => {
  test('arrives unchanged from a variable in the URL', async () => {
    const reference = ['$', '{MAIL_PASSWORD}'].join('')
    const mail = await sent((host) => ({
      url: withEnvironment(`smtp://id:${reference}@${host}`, { MAIL_PASSWORD: password }),
    }))
    expect(mail?.credentials).toBe(`|id|${password}`)
  })

  test('arrives unchanged from members', async () => {
    const mail = await sent((host) => ({ url: `smtp://${host}`, user: 'id@example.com', password }))
    expect(mail?.credentials).toBe(`|id@example.com|${password}`)
  })
})

test.each([
  'smtp://id:a/b@mail.example.com',
  'smtp://id:a#b@mail.example.com',
  'smtps://id:a?b@mail.example.com',
  'smtp://id:a%b@mail.example.com',
])('the URL %s is refused with what to do, and is not quoted', (url) => {
  expect(() => smtpMailer({ url, from })).toThrow(
    /^smtpMailer\(\): url must be the URL .*percent-encode special characters of the password, or set mail\.user and mail\.password$/u,
  )
})

test('the name in EHLO is that of the setting, which cannot contain a command', async () => {
  expect((await sent((host) => ({ url: `smtp://${host}`, name: 'id.example.com' })))?.greeting).toBe('id.example.com')
  expect(() => smtpMailer({ url: 'smtp://127.0.0.1', from, name: 'a\r\nMAIL' })).toThrow('name must be a host name')
})

/** A token endpoint, which counts its requests. */
async function tokenEndpoint(respond: () => { readonly status?: number; readonly body: string }) {
  const requests: { readonly form: string }[] = []
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    let form = ''
    for await (const part of request) form += part
    requests.push({ form })
    const { status = 200, body } = respond()
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  return { tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, requests }
}

describe('XOAUTH2', () => {
  test('signs in with an access token, which is kept until it ends', async () => {
    const { tokenUrl, requests } = await tokenEndpoint(() => ({
      body: '{"access_token":"the-token","expires_in":3600}',
    }))
    const oauth = { tokenUrl, clientId: 'mailer', clientSecret: 's&cret', refreshToken: 'refresh' }
    const mail = await sent((host) => ({ url: `smtp://${host}`, user: 'id@example.com', oauth }))
    expect(mail?.credentials).toBe('user=id@example.com|auth=Bearer the-token||')
    expect(requests).toEqual([
      { form: 'grant_type=refresh_token&refresh_token=refresh&client_id=mailer&client_secret=s%26cret' },
    ])
  })

  test('asks for a token of the client without a refresh token', async () => {
    const { tokenUrl, requests } = await tokenEndpoint(() => ({ body: '{"access_token":"x","expires_in":3600}' }))
    const oauth = {
      tokenUrl,
      clientId: 'mailer',
      clientSecret: 'secret',
      scope: 'https://outlook.office365.com/.default',
    }
    await sent((host) => ({ url: `smtp://id%40example.com@${host}`, oauth }))
    expect(requests[0]?.form).toContain('grant_type=client_credentials&client_id=mailer')
  })

  test.each([
    ['a refusal', { status: 400, body: '{"error":"invalid_grant","error_description":"refresh-secret"}' }],
    ['no JSON', { body: 'refresh-secret' }],
    ['no token', { body: 'null' }],
    ['a token that would be two lines', { body: '{"access_token":"refresh-secret\\r\\nMAIL FROM"}' }],
  ])('fails with %s, and quotes nothing of it', async (_, response) => {
    const { tokenUrl } = await tokenEndpoint(() => response)
    const oauth = { tokenUrl, clientId: 'mailer', refreshToken: 'refresh-secret' }
    const failure = await sent((host) => ({ url: `smtp://${host}`, user: 'id', oauth })).catch(String)
    expect(failure).toMatch(/^Error: The mail server has not accepted a mail \(EAUTH OAUTH2_(?:400|MALFORMED) at/u)
    expect(failure).not.toContain('secret')
  })

  test.each([
    [{ oauth: { tokenUrl: 'http://idp.example.com/token', clientId: 'x' }, user: 'id' }, 'must be an https URL'],
    [{ oauth: { tokenUrl: 'https://idp.example.com/token', clientId: 'x' } }, 'must have user with oauth'],
    [{ oauth: { tokenUrl: 'https://idp.example.com/token', clientId: 'x' }, user: 'id', password: 'x' }, 'not both'],
    [{ password: 'x' }, 'must have user with password'],
    [{ user: 'id', password: 'a\r\nb' }, 'must not contain a line break'],
  ])('%j is refused', (more, problem) => {
    expect(() => smtpMailer({ url: 'smtp://127.0.0.1', from, ...more })).toThrow(problem)
  })
})

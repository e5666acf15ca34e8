import { smtpMailer } from '@grantry/mail'
import { afterEach, describe, expect, test } from 'vitest'
import { mailFailure } from '../../packages/mail/src/failure.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { startSmtpServer } from '../support/smtp-server.ts'

const message = { to: 'bob@example.com', subject: 'Grüße', text: 'Hello Bob\n.\n', html: '<p>Hello Bob</p>' }
const from = 'Example <id@example.com>'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function server(...options: Parameters<typeof startSmtpServer>) {
  const started = await startSmtpServer(...options)
  closing.push(started.close)
  return started
}

function mailer(options: Parameters<typeof smtpMailer>[0]) {
  const created = smtpMailer(options)
  closing.unshift(created.close)
  return created
}

describe('a mail by SMTP', () => {
  test('arrives with both forms, and is marked as automatic', async () => {
    const { url, mails } = await server()
    await mailer({ url, from }).send(message)
    expect(mails).toHaveLength(1)
    expect(mails[0]).toMatchObject({ from: 'id@example.com', to: ['bob@example.com'], isEncrypted: false })
    const data = mails[0]?.data ?? ''
    for (const part of [
      'Hello Bob',
      '<p>Hello Bob</p>',
      'Auto-Submitted: auto-generated',
      'From: Example <id@example.com>',
    ]) {
      expect(data).toContain(part)
    }
  })

  test('signs in to the server', async () => {
    const { port, mails } = await server()
    await mailer({ url: `smtp://id%40example.com:p%3Aass@127.0.0.1:${port}`, from }).send(message)
    expect(mails[0]?.user).toBe('id@example.com')
  })

  test.each([
    'bob@example.com\r\nBCC: eve@example.com',
    'bob@example.com, eve@example.com',
    'bob',
    '<bob@example.com>',
    '"a b"@example.com',
  ])('is not sent to %j', async (to) => {
    const { url, commands } = await server()
    await expect(mailer({ url, from }).send({ ...message, to })).rejects.toThrow('must be one address')
    expect(commands).toEqual([])
  })

  test('has no subject that could become another header', async () => {
    const { url, commands } = await server()
    const subject = 'Hello\r\nBcc: eve@example.com'
    await expect(mailer({ url, from }).send({ ...message, subject })).rejects.toThrow('control characters')
    expect(commands).toEqual([])
  })

  test('that is refused fails without the address and the answer of the server', async () => {
    const { url } = await server({ recipient: (to) => `550 no mailbox ${to}` })
    const failure = await mailer({ url, from })
      .send(message)
      .catch((error: unknown) => error)
    expect(String(failure)).toBe(
      `Error: The mail server has not accepted a mail (EENVELOPE 550 at ${new URL(url).host})`,
    )
    expect((failure as Error).cause).toBeUndefined()
  })

  test('fails at the time limit of a server that does not respond', async () => {
    const { url } = await server({ stallsAt: 'MAIL' })
    await expect(mailer({ url, from, timeout: 1 }).send(message)).rejects.toThrow(
      'has not accepted a mail (ETIMEDOUT at ',
    )
  })

  test('fails with the cause and the server if no connection is possible', async () => {
    const port = await reservedPort()
    const failure = mailer({ url: `smtp://id:the-password@127.0.0.1:${port}`, from }).send(message)
    await expect(failure).rejects.toThrow(`a mail (ESOCKET ECONNREFUSED at 127.0.0.1:${port})`)
  })

  test.each([
    ['getaddrinfo ENOTFOUND mail.example.com', 'EDNS ENOTFOUND'],
    ['queryA ENOTFOUND mail.example.com', 'EDNS ENOTFOUND'],
    ["Hostname/IP does not match certificate's altnames", 'EDNS CERTIFICATE_OF_ANOTHER_HOST'],
    ['user@example.com ECONNREFUSED', 'EDNS'],
  ])('names a cause without the text of the failure: %s', (text, codes) => {
    const failure = mailFailure(Object.assign(new Error(text), { code: 'EDNS' }), 'mail.example.com:587')
    expect(failure.message).toBe(`The mail server has not accepted a mail (${codes} at mail.example.com:587)`)
  })

  test.each([
    [{ url: 'http://mail.example.com' }, 'url'],
    [{ url: 'smtp://' }, 'url'],
    [{ url: 'smtp://mail.example.com/?tls=no' }, 'url'],
    [{ from: 'id@example.com\r\nBcc: eve@example.com' }, 'from'],
    [{ from: 'id' }, 'from'],
    [{ timeout: 0 }, 'timeout'],
  ])('is not configured with %j', (wrong, member) => {
    expect(() => smtpMailer({ url: 'smtp://127.0.0.1', from, ...wrong })).toThrow(`smtpMailer(): ${member} `)
  })
})

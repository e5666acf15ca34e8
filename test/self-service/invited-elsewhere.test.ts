// An invitation that is accepted in a browser in which another user is signed in.
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { accountPage } from '@grantry/plugins/account'
import { invitations, type MailMessage, selfService } from '@grantry/plugins/self-service'
import { signIn } from '@grantry/plugins/sign-in'
import { expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { setUp } from '../authorization/parties.ts'
import { aliceAccount, linkIn, memoryAccounts } from './parties.ts'

const accountUri = 'https://id.example.com/account'
const password = 'correct horse battery'

test('leads to the sign-in, and not to the account of that user', async () => {
  const memory = memoryAccounts([aliceAccount])
  const mails: MailMessage[] = []
  const mailer = { send: (message: MailMessage) => void mails.push(message) }
  const way = selfService({
    store: memory.store,
    mailer,
    pages: createSelfServicePages({ locales: ['en'], host: 'id.example.com' }),
    signUp: 'invitation',
  })
  const pages = createPages({ locales: ['en'] })
  const features = [accountPage({ pages: createAccountPages({ locales: ['en'] }), accounts: memory.store })]
  const f = await setUp(
    signIn({ pages, ways: [way] }),
    { pages, features },
    { users: { authenticate: memory.authenticate, claims: () => ({}) } },
  )
  const browser = f.browser()
  const enter = async (url: string, username: string, password: string) => {
    const page = await browser.open(url)
    return browser.submit('https://id.example.com/connect/signin', { ...hiddenFields(page), username, password })
  }
  expect((await enter(accountUri, 'alice', 'alice-password')).html).toContain('Signed in as alice<')

  await f.provider.use(invitations).invite({ email: 'carol@example.com' })
  const form = await browser.open(linkIn(mails[0] ?? { text: '' }))
  const ready = await browser.submit(`${form.url.origin}${form.url.pathname}`, { ...hiddenFields(form), password })
  const url = /id="sign-in"[^>]*href="([^"]+)"/u.exec(ready.html)?.[1] ?? ''
  expect(url).toBe(`${accountUri}/sign-in`)
  const done = await enter(url, 'carol@example.com', password)
  expect([done.url.href, done.html.includes('Signed in as carol@example.com<')]).toEqual([accountUri, true])
})

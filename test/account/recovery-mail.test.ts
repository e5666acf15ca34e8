// A user with a new password gets a mail that names what was added before, with the page on which it can be removed.
import { createSelfServicePages } from '@grantry/pages/self-service'
import { type MailMessage, selfService } from '@grantry/plugins/self-service'
import { expect, test } from 'vitest'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { actionOf, aliceAccount, linkIn, linkOf, memoryAccounts } from '../self-service/parties.ts'
import { accountUri, setUpAccount } from './parties.ts'

test('19.51 the mail after a recovery leads to the page of the account', async () => {
  const { store, authenticate } = memoryAccounts([aliceAccount])
  const mails: MailMessage[] = []
  const way = selfService({
    store,
    mailer: { send: (mail) => void mails.push(mail) },
    pages: createSelfServicePages({ locales: ['en'], host: 'id.example.com' }),
  })
  const f = await setUpAccount({
    signIn: { ways: [way] },
    provider: { users: { authenticate, claims: () => ({}) } },
  })
  const browser = f.browser()
  const submit = (page: Page, fields: Readonly<Record<string, string>>) =>
    browser.submit(actionOf(page), { ...hiddenFields(page), ...fields })
  const login = await browser.open(accountUri)
  // Not the host of the issuer, or the id of a client that no user knows.
  expect(login.html).toContain('to continue to your account')
  await submit(await browser.open(linkOf(login, 'forgot')), { address: 'alice@example.com' })
  await f.provider.runTasks()
  const page = await browser.open(linkIn({ text: mails.at(-1)?.text ?? '' }))
  const overview = await submit(page, { password: 'correct horse battery' })
  expect(overview.html).toContain('id="sessions"')
  await f.provider.runTasks()
  expect(mails.at(-1)).toMatchObject({ to: 'alice@example.com', subject: 'Your password was changed' })
  for (const body of [mails.at(-1)?.text, mails.at(-1)?.html]) {
    expect(body).toContain('Passkeys, linked accounts and second factors that were added before still work.')
    expect(body).toContain(accountUri)
  }
})

// Accounts of the ready server with users in a table of the host, by the configuration alone.
import { parseConfiguration } from '@grantry/core'
import { afterEach, expect, test } from 'vitest'
import { createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { linkOf, titleOf } from '../self-service/parties.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { describeDatabases, type HostDatabase } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

async function start({ where }: Pick<HostDatabase, 'where'>, users: object = mapping) {
  const smtp = await startSmtpServer()
  closing.push(smtp.close)
  const content = {
    issuer: 'http://127.0.0.1:8484',
    storage: { driver: 'memory' },
    users: { driver: 'sql', ...users, ...where },
    clients: [
      {
        clientId: 'spa',
        public: true,
        grantTypes: ['authorization_code'],
        scopes: ['openid'],
        redirectUris: ['http://127.0.0.1/callback'],
      },
    ],
    plugins: [{ name: 'sign-in', accounts: { signUp: 'open' }, pages: { locales: ['en'] } }],
    mail: { url: smtp.url, from: 'id@example.com' },
  }
  const configuration = parseConfiguration(configurationSchema, content, '')
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  const server = await startServer({ loaded, port: 0, observe: () => {} })
  closing.unshift(() => server.close(0))
  const browser = createBrowser(server.provider)
  const query = new URLSearchParams({
    client_id: 'spa',
    redirect_uri: 'http://127.0.0.1/callback',
    response_type: 'code',
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const begin = () => browser.open(`${server.provider.issuer}/connect/authorize?${query}`)
  const actionOf = ({ html }: Page) =>
    (/<form method="post" action="([^"]+)"/u.exec(html)?.[1] ?? '').replaceAll('&amp;', '&')
  const submit = (page: Page, form: Readonly<Record<string, string>>) =>
    browser.submit(actionOf(page), { ...hiddenFields(page), ...form })
  /** Asks for a mail, and opens its link. */
  const mailed = async (id: string, address: string, count: number) => {
    await submit(await browser.open(linkOf(await begin(), id)), { address })
    await expect.poll(() => smtp.mails.length).toBe(count)
    return browser.open(/http:\S+\/connect\/mailed\?\S+/u.exec(smtp.mails.at(-1)?.data ?? '')?.[0] ?? '')
  }
  return { browser, begin, submit, mailed }
}

describeDatabases('accounts of a configuration', (open, isPostgresql) => {
  async function prepare() {
    const database = await open()
    await database.run(`DROP TABLE IF EXISTS ${quotedTable}`)
    for (const statement of accountsScript(isPostgresql)) {
      // New rows do not name this column.
      await database.run(statement.replace('enabled BOOLEAN NOT NULL', 'enabled BOOLEAN NOT NULL DEFAULT true'))
    }
    return database
  }
  const index = (column: string, name: string): string =>
    `CREATE UNIQUE INDEX ${name} ON ${quotedTable} (${isPostgresql ? `lower(${column})` : `${column} COLLATE NOCASE`})`

  test('are created and recovered, and sign in with the new password only', async () => {
    const database = await prepare()
    await database.run(index('"user name"', 'unique_names'))
    await database.run(index('email', 'unique_addresses'))
    const { browser, begin, submit, mailed } = await start(database)
    const created = await submit(await mailed('create', 'zoe@example.com', 1), { password: 'correct horse battery' })
    expect(created.html).toContain('Signed in as zoe@example.com')
    browser.jar.clear()
    const recovered = await submit(await mailed('forgot', 'zoe@example.com', 2), { password: 'another correct horse' })
    expect(recovered.html).toContain('Signed in as zoe@example.com')
    browser.jar.clear()
    const old = await submit(await begin(), { username: 'zoe@example.com', password: 'correct horse battery' })
    expect(titleOf(old)).toBe('Sign in')
    const now = await submit(await begin(), { username: 'zoe@example.com', password: 'another correct horse' })
    expect(now.html).toContain('Signed in as zoe@example.com')
  })

  test('need an index for addresses, and the columns of the address', async () => {
    const database = await prepare()
    await expect(start(database)).rejects.toThrow('users.columns.claims.email: no index finds an address')
    const { email_verified: _, ...claims } = mapping.columns.claims
    const columns = { ...mapping.columns, claims }
    await expect(start(database, { ...mapping, columns })).rejects.toThrow(
      'users.columns.claims.email_verified is required: accounts need its column',
    )
  })
})

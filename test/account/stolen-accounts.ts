// Accounts that a thief can use, in the storage or in a table, at a provider that begins with a copy of a storage: what one
// attempt leaves, in the storage or in the memory of the provider, is not there in the next one.
import { scryptSync } from 'node:crypto'
import { openAdministration, storedUsers } from '@grantry/administration'
import { openEntries, type UserService } from '@grantry/core'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { accountPage } from '@grantry/plugins/account'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { type AccountStore, type MailMessage, selfService } from '@grantry/plugins/self-service'
import { signIn } from '@grantry/plugins/sign-in'
import { loadEngine } from '@grantry/storage-drivers/clients'
import { mapDriver } from '@grantry/testing'
import { sqlUsers } from '@grantry/users/sql'
import { sqlAccounts } from '@grantry/users/sql-accounts'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { quickHash } from '../administration/stored-user-setting.ts'
import { setUp, trustedClients } from '../authorization/parties.ts'
import { pages } from '../self-service/parties.ts'
import { interruptible } from '../support/interrupted.ts'
import { accountsScript, mapping, quotedTable } from '../user-databases/users-table.ts'

export const ofOwner = 'password of the owner'
export const sub = 'alice'
export const email = 'alice@example.com'

const check = { client: async () => {}, scope: async () => {}, user: async () => {} }
const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/u, '')

/** Little work, and the same hash each time. */
const hashOf = (password: string): string => {
  const salt = 'salt of a test..'
  return `$scrypt$ln=4,r=8,p=1$${unpadded(Buffer.from(salt))}$${unpadded(scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 }))}`
}
const known = [quickHash, hashOf(ofOwner)]

const selfServicePages = createSelfServicePages({ locales: ['en'], host: 'id.example.com' })
const accountPages = createAccountPages({ locales: ['en'] })

/** A provider with the page of the account and forgotten passwords. */
async function serve(driver: ReturnType<typeof interruptible>, accounts: AccountStore, users: UserService) {
  const mails: MailMessage[] = []
  const way = selfService({
    store: accounts,
    mailer: { send: (mail) => void mails.push(mail) },
    limits: { perAddress: 1000, perNetwork: 100_000 },
    pages: selfServicePages,
  })
  const account = accountPage({ pages: accountPages, accounts, passwords: {} })
  const f = await setUp(
    signIn({ pages, ways: [way] }),
    { pages, features: [account] },
    // A busy machine is no outage: a request that has ended would change the account later.
    { clients: trustedClients, storage: driver.storage, users, storageTimeLimit: 60, hostTimeLimit: 60 },
  )
  return { ...f, mails, during: driver.during }
}

/** @param items what the storage contains; it changes */
export type Open = (items: Map<string, string>) => ReturnType<typeof openStored>

/** Opens a provider with the account in its storage. */
export async function openStored(items: Map<string, string>) {
  const driver = interruptible({
    ...mapDriver(items),
    listKeys: (base: string, { after, limit }: { readonly after: string; readonly limit: number }) =>
      [...items.keys()]
        .filter((name) => name.startsWith(base) && name > after)
        .sort()
        .slice(0, limit),
  })
  const { storage } = driver
  const entries = openEntries({ issuer: 'https://id.example.com', storage })
  const administration = () =>
    openAdministration({
      entries,
      check,
      hashPassword: async (password) => hashOf(password),
      revoke: (target) => f.provider.revoke(target),
    })
  const stored = storedUsers({ entries, cacheFor: 5, renewHash: async () => undefined, now: () => f.clock.now() })
  const f = await serve(driver, storedAccounts(administration), configuredUsers([], { stored }))
  const { users } = administration().as({ who: 'admin' })
  const claims = { email, email_verified: true }
  return {
    ...f,
    async add() {
      await users.add({ sub, username: sub, password: quickHash, claims })
    },
    /** What ends access, and what the password is afterwards if it sets one. */
    acts: {
      'an administrator sets a password': (): Promise<unknown> => users.setPassword(sub, ofOwner),
      'the user is disabled': (): Promise<unknown> => users.edit(sub, { active: false }),
      'the user is removed': (): Promise<unknown> => users.remove(sub),
      'the user is revoked': () => f.provider.revoke({ subject: sub }),
      async 'another form changes the account, and the user is revoked'() {
        await users.edit(sub, { claims: { ...claims, given_name: 'Thief' } })
        await f.provider.revoke({ subject: sub })
      },
      'all sessions end': () => f.provider.use(userSessions).endAll(sub),
    },
    /** Whether the password is none of the owner. */
    async hasOther() {
      const hash = (await users.has(sub)) ? (await users.show(sub)).value.password : undefined
      return hash !== undefined && !known.includes(hash)
    },
  }
}

/** Returns the function that opens a provider with the table of a file, which each provider begins anew. */
export function sqlOpener(file: string): Open {
  const database = loadEngine()(file)
  for (const statement of accountsScript(false)) database.run(statement)
  database.run(`CREATE UNIQUE INDEX u0 ON ${quotedTable} ("user name" COLLATE NOCASE)`)
  database.run(`CREATE UNIQUE INDEX u1 ON ${quotedTable} (email COLLATE NOCASE)`)
  database.run(`DELETE FROM ${quotedTable}`)
  const accounts = sqlAccounts({ ...mapping, file })
  const users = sqlUsers({ ...mapping, file })
  const set = (assignment: string) => database.run(`UPDATE ${quotedTable} SET ${assignment} WHERE id = '${sub}'`)

  return async (items) => {
    const driver = interruptible(mapDriver(items))
    const counted = driver.counted({
      ...accounts,
      change: (id: string, { isStillAllowed, ...changes }: Parameters<typeof accounts.change>[1]) =>
        accounts.change(id, {
          ...changes,
          ...(isStillAllowed !== undefined && {
            async isStillAllowed() {
              const isAllowed = await isStillAllowed()
              await driver.call()
              return isAllowed
            },
          }),
        }),
    })
    const f = await serve(driver, counted, users)
    const revoke = () => f.provider.revoke({ subject: sub })
    const add = async () => {
      database.run(`DELETE FROM ${quotedTable}`)
      database.run(
        `INSERT INTO ${quotedTable} (id, "user name", hash, enabled, email, verified) VALUES ('${sub}', '${sub}', '${quickHash}', true, '${email}', true)`,
      )
    }
    return {
      ...f,
      add,
      acts: {
        async 'an administrator sets a password'() {
          set(`hash = '${hashOf(ofOwner)}'`)
          await revoke()
        },
        async 'the user is disabled'() {
          set('enabled = false')
          await revoke()
        },
        async 'the user is removed'() {
          database.run(`DELETE FROM ${quotedTable}`)
          await revoke()
        },
        'the user is revoked': revoke,
        async 'another form changes the account, and the user is revoked'() {
          set(`"select" = 'Thief'`)
          await revoke()
        },
        'all sessions end': () => f.provider.use(userSessions).endAll(sub),
      },
      async hasOther() {
        const [row] = database.all(`SELECT hash FROM ${quotedTable} WHERE id = ?`, sub)
        return row !== undefined && !known.includes(String(row.hash))
      },
    }
  }
}

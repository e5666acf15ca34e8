import { configurationObject, type Plugins } from '@grantry/core'
import { createPages, pagesSchema } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { languages } from '@grantry/pages/languages'
import { authorizationEndpointEntries } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogoutSchema } from '@grantry/plugins/back-channel-logout'
import { deviceSignIn } from '@grantry/plugins/device-authorization'
import { pushedAuthorizationSchema } from '@grantry/plugins/pushed-authorization'
import { signInEntries } from '@grantry/plugins/sign-in'
import { signInEndpoint } from '@grantry/plugins/sign-in-plugins'
import { providerOf } from '@grantry/plugins/upstream'
import * as v from 'valibot'
import { accountEntries } from '../sign-in/account.ts'
import { organizationEntries, organizationsOf } from '../sign-in/organizations.ts'
import { type SelfServiceHost, selfServiceMemberSchema, selfServiceOf } from '../sign-in/self-service.ts'
import { upstreamEntries } from '../sign-in/upstream.ts'
import type { DeviceEntry } from './device-authorization.ts'
import { type Context, isNamedEntry, named, noAdminHost } from './plugin-hosts.ts'

const withoutMail: Omit<SelfServiceHost, 'adminHost'> = { issuer: 'http://localhost', mailer: { send: () => {} } }

/** Returns the options of the device authorization that needs the page of the sign-in. */
const withoutPage = (entries: readonly unknown[]) =>
  entries.find(
    (entry) => isNamedEntry(entry) && entry.name === 'device-authorization' && !(entry as DeviceEntry).verificationUri,
  ) as (DeviceEntry & { readonly name: string }) | undefined

const signInEntry = configurationObject({
  ...authorizationEndpointEntries,
  ...signInEntries,
  ...upstreamEntries,
  ...accountEntries,
  ...organizationEntries,
  pages: v.optional(pagesSchema, {}),
  accounts: v.optional(selfServiceMemberSchema),
  pushedRequests: v.optional(pushedAuthorizationSchema, {}),
  backChannelLogout: v.optional(backChannelLogoutSchema, {}),
})

/** Creates the authorization endpoint with the pages of a sign-in. */
function createSignIn(
  { pages: look, providers, account, accounts: members, organizations, ...options }: v.InferInput<typeof signInEntry>,
  { entries, adminHost = noAdminHost, accounts, userClaims }: Context,
): Plugins {
  const appearance = { ...look, languages }
  const pages = createPages(appearance)
  const { name: _, verificationUri, ...device } = withoutPage(entries) ?? {}
  return signInEndpoint({
    ...options,
    pages,
    organizations: organizationsOf(organizations, userClaims),
    providers: providers?.map(providerOf),
    account: account && { ...account, pages: createAccountPages(appearance) },
    accounts: members && selfServiceOf(members, appearance, { ...(accounts ?? withoutMail), adminHost }),
    features: withoutPage(entries) === undefined ? [] : [deviceSignIn({ ...device, pages })],
  })
}

export const plugin = named(signInEntry, createSignIn, { account: {} })

/** @import { NamedGroup } from './entry-members.js' */

/** The members of a client, in the order in which an administrator thinks of them. @type {readonly NamedGroup[]} */
export const clientGroups = [
  { title: 'The application', names: ['clientName', 'public', 'tags'] },
  { title: 'What it can get', names: ['grantTypes', 'scopes'] },
  { title: 'Where users return to', names: ['redirectUris', 'postLogoutRedirectUris', 'allowedCorsOrigins'] },
  {
    title: 'Sign-in',
    closed: true,
    names: [
      'requireConsent',
      'requireSecondFactor',
      'requirePkce',
      'requirePushedAuthorizationRequests',
      'dpopBoundAccessTokens',
      'defaultMaxAge',
      'identityProviders',
      'initiateLoginUri',
      'backchannelLogoutUri',
      'backchannelLogoutSessionRequired',
    ],
  },
  {
    title: 'On the pages of the sign-in',
    closed: true,
    names: ['logoUri', 'clientColor', 'clientUri', 'policyUri', 'tosUri', 'contacts'],
  },
  {
    title: 'Tokens',
    closed: true,
    names: [
      'accessTokenFormat',
      'accessTokenLifetime',
      'identityTokenLifetime',
      'identityTokenAlgorithm',
      'userClaimsInIdentityToken',
      'authorizationCodeLifetime',
      'refreshToken',
    ],
  },
]

/** @type {readonly NamedGroup[]} */
export const scopeGroups = [
  { title: 'The scope', names: ['identity', 'claims', 'audience', 'unrestrictedIntrospection', 'tags'] },
]

/** @type {readonly NamedGroup[]} */
export const userGroups = [{ title: 'The user', names: ['username', 'claims', 'tags'] }]

/** @type {readonly NamedGroup[]} */
export const tenantGroups = [{ title: 'The tenant', names: ['plugins', 'homePage', 'tags'] }]

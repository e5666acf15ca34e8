/** @import { MemberGroup } from './entry-form.js' */

/** The members of a client, in the order in which an administrator thinks of them. @type {readonly MemberGroup[]} */
export const clientGroups = [
  {
    title: 'The application',
    members: [
      {
        name: 'clientName',
        label: 'Name',
        kind: 'text',
        hint: 'What users see when they sign in. Without it, they see the id.',
      },
      {
        name: 'public',
        label: 'Public client',
        kind: 'switch',
        fallback: false,
        hint: 'Its code runs on the device of the user, as in a browser or on a phone, so it cannot keep a secret.',
      },
      { name: 'tags', label: 'Tags', kind: 'list', hint: 'Labels for you, to find it again. One a line.' },
    ],
  },
  {
    title: 'What it can get',
    members: [
      {
        name: 'grantTypes',
        label: 'Grant types',
        kind: 'list',
        hint: 'How it gets tokens, one a line: authorization_code with a user, client_credentials without one, refresh_token to stay signed in.',
      },
      {
        name: 'scopes',
        label: 'Scopes',
        kind: 'list',
        hint: 'What it may request, one a line, such as openid, profile or the name of an API.',
      },
    ],
  },
  {
    title: 'Where users return to',
    members: [
      {
        name: 'redirectUris',
        label: 'Redirect URIs',
        kind: 'list',
        hint: 'The addresses that users return to after a sign-in, one a line. They are compared exactly.',
      },
      {
        name: 'postLogoutRedirectUris',
        label: 'Redirect URIs after a sign-out',
        kind: 'list',
        hint: 'The addresses that users can return to after they have signed out, one a line.',
      },
      {
        name: 'allowedCorsOrigins',
        label: 'Origins of its pages',
        kind: 'list',
        hint: 'For an application in the browser: the origins that may call this server, without a path.',
      },
    ],
  },
  {
    title: 'Sign-in',
    closed: true,
    members: [
      {
        name: 'requireConsent',
        label: 'Ask users for consent',
        kind: 'switch',
        fallback: true,
        hint: 'Turn it off for applications of your own only: users are then never asked what it may get.',
      },
      {
        name: 'requirePkce',
        label: 'Require PKCE',
        kind: 'switch',
        fallback: false,
        hint: 'Public clients need it in any case.',
      },
      {
        name: 'dpopBoundAccessTokens',
        label: 'Require DPoP',
        kind: 'switch',
        fallback: false,
        hint: 'Its tokens are bound to a key, and useless to a thief without it.',
      },
      { name: 'policyUri', label: 'Privacy policy', kind: 'text', hint: 'A link on the pages of the sign-in.' },
      { name: 'tosUri', label: 'Terms of service', kind: 'text', hint: 'A link on the pages of the sign-in.' },
    ],
  },
  {
    title: 'Tokens',
    closed: true,
    members: [
      {
        name: 'accessTokenFormat',
        label: 'Format of access tokens',
        kind: 'choice',
        options: ['jwt', 'reference'],
        fallback: 'jwt',
        hint: 'An API can verify a JWT itself. It asks this server about a reference token, which can be revoked immediately.',
      },
      {
        name: 'accessTokenLifetime',
        label: 'Lifetime of access tokens',
        kind: 'number',
        fallback: 3600,
        hint: 'Seconds.',
      },
      {
        name: 'identityTokenLifetime',
        label: 'Lifetime of identity tokens',
        kind: 'number',
        fallback: 300,
        hint: 'Seconds.',
      },
      { name: 'authorizationCodeLifetime', label: 'Lifetime of codes', kind: 'number', fallback: 60, hint: 'Seconds.' },
      {
        name: 'refreshToken',
        label: 'Refresh tokens',
        kind: 'json',
        hint: 'An object: usage (rotate or reuse), absoluteLifetime, slidingLifetime and retryWindow in seconds.',
      },
    ],
  },
]

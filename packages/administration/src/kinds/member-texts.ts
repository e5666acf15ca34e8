/** What people read about a member of an entry. */
export interface MemberText {
  /** A label. */
  readonly title: string
  /** What the member does, in one or two sentences. */
  readonly description: string
}

export type MemberTexts = Readonly<Record<string, MemberText>>

const text = (title: string, description: string): MemberText => ({ title, description })

const tags = text('Tags', 'Labels for administrators, to find it again.')

/** Members of the core and of the plugins of this project. A plugin of another one describes its own. */
export const clientTexts: MemberTexts = {
  clientId: text('Client id', 'The application sends it with each request. It cannot be changed later.'),
  clientName: text('Name', 'What users see when they sign in. Without it, they see the id.'),
  public: text(
    'Public client',
    'Its code runs on the device of the user, as in a browser or on a phone, so it cannot keep a secret.',
  ),
  enabled: text('Enabled', 'A disabled client gets no tokens, and those that it has end.'),
  tags,
  grantTypes: text(
    'Grant types',
    'How it gets tokens: authorization_code with a user, client_credentials without one, refresh_token to stay signed in.',
  ),
  scopes: text('Scopes', 'What it may request, such as openid, profile or the name of an API.'),
  redirectUris: text('Redirect URIs', 'The addresses that users return to after a sign-in. They are compared exactly.'),
  postLogoutRedirectUris: text(
    'Redirect URIs after a sign-out',
    'The addresses that users can return to after they have signed out.',
  ),
  allowedCorsOrigins: text(
    'Origins of its pages',
    'For an application in the browser: the origins that may call this server, without a path.',
  ),
  initiateLoginUri: text(
    'Address that starts a sign-in',
    'Where the pages of this server send a user who has no request.',
  ),
  backchannelLogoutUri: text('Address for sign-outs', 'This server informs it when a session of a user ends.'),
  backchannelLogoutSessionRequired: text(
    'Name the session',
    'Whether a message about a sign-out must name the session.',
  ),
  requireConsent: text(
    'Ask users for consent',
    'Turn it off for applications of your own only: users are then never asked what it may get. Default: on.',
  ),
  requireSecondFactor: text(
    'Require a second factor',
    'Users prove a second factor, or set one up during the sign-in. Tokens that were issued before are not refreshed without one.',
  ),
  scopeChoice: text(
    'Choice of scopes',
    'Whether users choose what it gets, instead of all or nothing. Default: on for clients that have described themselves.',
  ),
  selfDescribed: text(
    'Described by itself',
    'For clients that have registered themselves. allow: a consent can be remembered. ask: users are asked each time.',
  ),
  defaultMaxAge: text('Age of a sign-in', 'After how many seconds a user has to sign in again.'),
  identityProviders: text('Identity providers', 'The idp: values that it may request in acr_values. None allows any.'),
  clientUri: text('Home page', 'A link on the pages of the sign-in.'),
  clientColor: text('Color', 'The color of buttons on the pages of the sign-in, such as #1f4fd8.'),
  logoUri: text('Logo', 'A picture on the pages of the sign-in.'),
  policyUri: text('Privacy policy', 'A link on the pages of the sign-in.'),
  tosUri: text('Terms of service', 'A link on the pages of the sign-in.'),
  contacts: text('Contacts', 'Who is responsible for it, such as a mail address.'),
  tokenEndpointAuthMethod: text(
    'Authentication',
    'The only method by which it may authenticate, such as client_secret_basic. Default: every one that is configured.',
  ),
  tokenEndpointAuthSigningAlg: text('Algorithm of assertions', 'What it signs its assertions with. Default: any.'),
  tokenEndpointAuthAudience: text('Audience of assertions', 'Which audience its assertions must have.'),
  jwks: text('Keys', 'Its public keys, as a JWK set. It signs assertions with the private ones.'),
  jwksUri: text('Address of its keys', 'Where it publishes its public keys, as a JWK set, instead of them here.'),
  workload: text(
    'Workload',
    'Whose tokens authenticate it, without a secret: an object with the issuer, and the subject and claims that must match.',
  ),
  requirePkce: text('Require PKCE', 'Public clients need it in any case.'),
  allowPlainPkce: text('Accept plain PKCE', 'For an application that knows no other one: it protects less.'),
  requirePushedAuthorizationRequests: text(
    'Require pushed requests',
    'It sends each authorization request to this server first, and not through the browser.',
  ),
  dpopBoundAccessTokens: text('Require DPoP', 'Its tokens are bound to a key, and useless to a thief without it.'),
  tlsClientCertificateBoundAccessTokens: text(
    'Bind tokens to its certificate',
    'Its tokens are useless to a thief without the certificate (mutual TLS).',
  ),
  tlsClientAuthSubjectDn: text(
    'Subject of its certificate',
    'The subject of the certificate that it authenticates with.',
  ),
  tlsClientAuthSanDns: text('DNS name of its certificate', 'A name in the certificate that it authenticates with.'),
  tlsClientAuthSanUri: text('URI of its certificate', 'A URI in the certificate that it authenticates with.'),
  tlsClientAuthSanIp: text(
    'IP address of its certificate',
    'An address in the certificate that it authenticates with.',
  ),
  tlsClientAuthSanEmail: text(
    'Mail address of its certificate',
    'A mail address in the certificate that it authenticates with.',
  ),
  profile: text('Security profile', 'fapi2: it must meet the FAPI 2.0 Security Profile.'),
  accessTokenFormat: text(
    'Format of access tokens',
    'An API can verify a JWT itself. It asks this server about a reference token, which can be revoked immediately.',
  ),
  accessTokenLifetime: text('Lifetime of access tokens', 'In seconds.'),
  identityTokenLifetime: text('Lifetime of identity tokens', 'In seconds.'),
  identityTokenAlgorithm: text('Algorithm of identity tokens', 'For an application that cannot verify the usual one.'),
  userClaimsInIdentityToken: text(
    'Claims in identity tokens',
    'Identity tokens contain what userinfo returns, for an application that does not call it.',
  ),
  authorizationCodeLifetime: text('Lifetime of codes', 'In seconds.'),
  refreshToken: text(
    'Refresh tokens',
    'An object: usage (rotate or reuse), unasked (never, without_openid or always), and absoluteLifetime, slidingLifetime, retryWindow and gracePeriod in seconds.',
  ),
}

export const scopeTexts: MemberTexts = {
  name: text('Name of the scope', 'Clients request it by this name, such as orders. It cannot be changed later.'),
  enabled: text('Enabled', 'No client can get a disabled scope. Tokens that have it keep working.'),
  identity: text('Claims of a user', 'It stands for claims that userinfo returns, and not for an API.'),
  claims: text(
    'Claims',
    'What userinfo returns for it. For an API: the claims of the user in access tokens for it, such as email.',
  ),
  audience: text(
    'Audience',
    'What access tokens for this API have as aud. Several, if APIs share the scope: requests then name one as resource.',
  ),
  default: text('By default', 'A request without scopes asks for it, if the client may have it.'),
  unrestrictedIntrospection: text(
    'Introspection shows all scopes',
    'Introspection shows this API every scope of a token, and not only its own.',
  ),
  grantedSince: text(
    'Granted since',
    'Epoch seconds: tokens and consents from before do not have this scope, because its name belonged to another API.',
  ),
  tags,
}

export const userTexts: MemberTexts = {
  sub: text(
    'Subject (sub)',
    'The id of the user in tokens. Without it, a new user gets one. It cannot be changed later.',
  ),
  username: text('User name', 'The name for the sign-in.'),
  password: text('Password', 'At least 8 characters. Without one, the user cannot sign in with a password.'),
  active: text('Enabled', 'A disabled user cannot sign in, and all sessions and tokens end.'),
  claims: text(
    'Claims',
    'What clients can learn about the user, as a JSON object, such as { "name": "Alice", "email": "alice@example.com" }.',
  ),
  tags,
}

export const tenantTexts: MemberTexts = {
  name: text('Name', 'The segment of the path, or the host, by which requests name the tenant. It never changes.'),
  enabled: text('Enabled', 'Requests of a tenant that is disabled are refused.'),
  plugins: text(
    'Plugins',
    'Options of plugins that differ from those of the server, by name. Only the names are returned. A name without options keeps those that are stored; a plugin that is left out has the options of the server.',
  ),
  homePage: text('Home page', 'Whether the tenant has a page at its URL.'),
  tags,
}

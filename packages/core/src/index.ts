export type { AbuseControlOptions, ClientLimit, FailureLimit } from './abuse/abuse-control.ts'
export { addressGroupOf, siteOf } from './abuse/address-group.ts'
export { configurationError, configurationProblems } from './config-problems.ts'
export { closestName, configurationObject, type OptionsOf, parseConfiguration, quotableName } from './config-schema.ts'
export { coreRules } from './core-rules.ts'
export { passwords } from './credentials/passwords.ts'
export { isSameUsername } from './credentials/user-names.ts'
export {
  type Client,
  type ClientMembers,
  type ClientOptions,
  type ClientWithSecrets,
  clientSchema,
} from './directory/client.ts'
export type { ClientStore, UnknownCaller } from './directory/client-directory.ts'
export {
  type Member,
  type MemberEntries,
  type MemberGroup,
  type MembersOf,
  type MemberText,
  type MemberTexts,
  member,
  memberGroups,
  schemasOf,
  textsOf,
} from './directory/member.ts'
export { type MetadataName, metadataName, metadataNames } from './directory/metadata-names.ts'
export {
  isLoopbackRedirect,
  isRegistered as isRegisteredRedirectUri,
  redirectUriProblem,
} from './directory/redirect-uri.ts'
export {
  type Scope,
  type ScopeMembers,
  type ScopeOptions,
  type ScopeWithSecrets,
  scopeSchema,
} from './directory/scope.ts'
export { hashSecret } from './directory/secret.ts'
export { redirectUriDetail } from './directory/shown-uri.ts'
export type { RequestedClaims } from './directory/user-claims.ts'
export type {
  ActiveQuestion,
  AuthenticatedUser,
  FoundUser,
  Subject,
  UserCredentials,
  UserQuestion,
  UserService,
} from './directory/user-service.ts'
export { defaultPaths, type EndpointName, endpointNames } from './endpoints/built-in.ts'
export type { EndpointSwitch } from './endpoints/paths.ts'
export type { EntryKind } from './entries/entry-key.ts'
export { type Entry, type EntryPage, type EntryStore, entryProblem, openEntries } from './entries/entry-store.ts'
export { isCoreError, type OAuthErrorCode, type OAuthErrorCodes } from './errors/error-codes.ts'
export {
  isOAuthError,
  isReason,
  OAuthError,
  type OAuthErrorOptions,
  type RefusalFacts,
  type Refuse,
} from './errors/oauth-error.ts'
export { describeCause, type EventCause, thrownValueOf } from './events/cause.ts'
export type { ClientFact, Observer, ProviderEvent, UserFact } from './events/event.ts'
export {
  openTraceContext,
  parseTraceparent,
  type TraceContext,
  type TraceParent,
  traceparentOf,
} from './events/trace-context.ts'
export {
  domainOf,
  foldedAddress,
  foldedDomain,
  foldedPassword,
  foldedUsername,
  isSameAddress,
  spellingsOf,
  typedName,
} from './folded-text.ts'
export { authorizations } from './grants/authorizations.ts'
export { defineGrantCheck } from './grants/grant-check-kind.ts'
export { assertions } from './grants/mint-assertion.ts'
export { sealing } from './grants/plugin-seal.ts'
export type { ClientCertificate, ConnectionInfo, Handler } from './http/connection.ts'
export { isNavigation } from './http/navigation.ts'
export type { RequestParameters } from './http/parameters.ts'
export { readParameters } from './http/read-parameters.ts'
export {
  inexactNumber,
  inexactNumberIn,
  isJsonObject,
  isKept,
  isObject,
  parseExactJson,
  parseJsonText,
  vanished,
  vanishes,
} from './json.ts'
export type { ExternalKey } from './keys/external-key.ts'
export type { FixedKeys } from './keys/import-key.ts'
export type { KeyInfo, KeyState, ProviderKeys, RetireOptions, RotateOptions } from './keys/key-ring.ts'
export { type GeneratedKeys, type KeySource, type StoredKeys, signingKeys, storedKeys } from './keys/open-key-ring.ts'
export { sealStoredKeys } from './keys/seal-stored-keys.ts'
export { type StoredKeysOptions, storedKeysSchema } from './keys/stored-keys-options.ts'
export { issuerSchema, type ProviderOptions } from './options.ts'
export { epochSecondsOf, parseTime } from './parse-time.ts'
export { parseUrl, pathOf } from './parse-url.ts'
export type { AuthenticateUser, LoginContext } from './parts/authenticate-user.ts'
export type { Capability } from './parts/capability.ts'
export {
  type ClientAuthentication,
  type CredentialFacts,
  type CredentialRefusal,
  defineClientAuthentication,
  type PresentedCredentials,
  type PresentedSecret,
  type ProofMethod,
  type SecretMethod,
} from './parts/client-authentication.ts'
export { type ClientSource, defineClientSource } from './parts/client-source.ts'
export { collectParts } from './parts/collect-parts.ts'
export type {
  Call,
  Callers,
  Endpoint,
  EndpointKit,
  EndpointRequest,
  PluginEndpoints,
  TokenCaller,
} from './parts/endpoint.ts'
export { defineEndpoint } from './parts/endpoint-kind.ts'
export { defineErrorPage, type ErrorPage } from './parts/error-page.ts'
export type {
  ClientProblem,
  ErrorStatuses,
  Fields,
} from './parts/fields.ts'
export { defineFields } from './parts/fields-kind.ts'
export type { Confirmation } from './parts/grant.ts'
export {
  type Actor,
  type AuthenticatedClient,
  type Demands,
  type Grant,
  type GrantRequest,
  type GrantResult,
  maxActors,
  type RequestFacts,
  type StoredKind,
} from './parts/grant.ts'
export type {
  AuthorizationCheck,
  AuthorizationContribution,
  Contribution,
  GrantCheck,
} from './parts/grant-check.ts'
export { defineGrant } from './parts/grant-kind.ts'
export type { GrantKit, Redemption, StoredGrant, ValidatedToken } from './parts/grant-kit.ts'
export {
  defineHostFunctions,
  type FunctionsOf,
  type HostFunctions,
  type HostKey,
  hostKey,
  type UsePlugins,
} from './parts/host-functions.ts'
export type { HtmlSources } from './parts/html-policy.ts'
export { escapeHtml, htmlHeaders } from './parts/html-policy.ts'
export type { Kit, PluginRecords } from './parts/kit.ts'
export type { OwnedPart } from './parts/plugin.ts'
export { definePlugin, type Plugin, type PluginPart, type Plugins } from './parts/plugin.ts'
export type {
  Approval,
  AuthorizationRequest,
  Authorize,
  AuthorizedEpochs,
  OpenAuthorization,
  Proposal,
} from './parts/proposal.ts'
export { type DirectorySchemas, directorySchemasOf } from './parts/registry.ts'
export type { Reply } from './parts/reply.ts'
export type { ResponseFormat } from './parts/response-format.ts'
export { defineResponseFormat } from './parts/response-format-kind.ts'
export type { Rule, RuleFacts, RuleFinding, RuleMatch, StartupWarning } from './parts/rule.ts'
export { defineScopeSource, type ScopeSource } from './parts/scope-source.ts'
export { defineTask, type Task } from './parts/task.ts'
export type {
  Proof,
  ProofRequest,
  SingleUse,
  TokenBinding,
} from './parts/token-binding.ts'
export { defineTokenBinding } from './parts/token-binding-kind.ts'
export { createProvider, type Provider } from './provider.ts'
export type { AtomicDriver, DriverChanges, DriverItem } from './records/driver.ts'
export type { RecordOptions } from './records/envelope.ts'
export {
  type RecoverableDriver,
  type RecoverCounts,
  type RecoverOptions,
  recoverStorage,
} from './records/recover-storage.ts'
export { methodOf } from './router.ts'
export {
  algorithms,
  type Runtime,
  type SignatureKey,
  type SigningAlgorithm,
  webRuntime,
} from './runtime.ts'
export { declaredParameters, type OutputOf, type Schema } from './standard-schema.ts'
export { isLocalhostUrl, isLoopbackHost } from './this-machine.ts'
export type { Inspect, TokenInspection } from './tokens/inspect.ts'
export { decodeJwt } from './tokens/jwt.ts'
export type { RevocationTarget, Revoke } from './tokens/revoke.ts'
export type { Json, JsonObject, MaybePromise } from './types.ts'

export type { AuthInfo } from './auth-info.ts'
export type { RequiredBinding } from './binding.ts'
export type { FindCertificate } from './certificate.ts'
export type { DpopProofOptions } from './dpop/dpop.ts'
export type { NonceOptions } from './dpop/nonces.ts'
export { memoryReplayStore, type ReplayStore } from './dpop/replay-store.ts'
export type { IntrospectionOptions, IntrospectionRequest } from './introspection.ts'
export type { IssuerPattern } from './issuers.ts'
export type { Fetch } from './json-fetch.ts'
export type { JwtOptions } from './jwt.ts'
export { type McpAuthOptions, mcpAuth } from './mcp.ts'
export type { PresentedRequest } from './presented-request.ts'
export type { Reason } from './refusal.ts'
export type { Requirement } from './requirement.ts'
export type { ResourceMetadataOptions } from './resource-metadata.ts'
export { type AccessDecision, type AccessToken, createResourceServer, type ResourceServer } from './resource-server.ts'
export type {
  ProtectedResourceOptions,
  Refusal,
  ResourceServerOptions,
  ResourceServerSettings,
} from './resource-server-options.ts'
export type { Claims } from './token-claims.ts'
export type { VerificationError } from './verify.ts'

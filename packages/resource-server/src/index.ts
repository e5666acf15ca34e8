export type { Claims } from './claims.ts'
export type { IntrospectionOptions, IntrospectionRequest } from './introspection.ts'
export type { Fetch } from './json-fetch.ts'
export type { JwtOptions } from './jwt.ts'
export type { Refusal, ResourceServerOptions } from './options.ts'
export type { Reason } from './refusal.ts'
export type { Requirement } from './requirement.ts'
export {
  type AccessToken,
  type Authorization,
  createResourceServer,
  type PresentedRequest,
  type ResourceServer,
} from './resource-server.ts'

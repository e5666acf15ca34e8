import type { JsonObject } from '../types.ts'

/** Members that a plugin adds to what the core publishes. It can add, but not replace. */
export interface Fields {
  readonly kind: 'fields'
  /**
   * Members of the discovery document, such as `code_challenge_methods_supported`. Arrays of strings are merged with
   * those of other plugins. Of the core's members, only `token_endpoint_auth_methods_supported` and
   * `response_modes_supported` can be extended. Any other member that is set twice is an error at startup.
   */
  readonly metadata?: JsonObject | undefined
}

/** Defines fields. */
export const defineFields = (fields: Omit<Fields, 'kind'>): Fields => ({ ...fields, kind: 'fields' })

/** `acr_values` of the seed, section 2.1: two shapes have a meaning, the rest is passed on. */
export interface AcrValues {
  /** The identity provider to ask, where the client may name it. */
  readonly idp?: string
  readonly tenant?: string
  readonly acrValues?: readonly string[]
}

/** @param allowedProviders those that the client may ask for; empty: any */
export function parseAcrValues(text: string | undefined, allowedProviders: readonly string[]): AcrValues {
  let idp: string | undefined
  let tenant: string | undefined
  const rest: string[] = []
  // A set: a repeated value is the same wish.
  for (const value of new Set(text?.split(' '))) {
    if (value === '') continue
    if (idp === undefined && value.startsWith('idp:')) idp = value.slice('idp:'.length)
    else if (tenant === undefined && value.startsWith('tenant:')) tenant = value.slice('tenant:'.length)
    else rest.push(value)
  }
  const mayAsk = idp !== undefined && (allowedProviders.length === 0 || allowedProviders.includes(idp))
  return {
    ...(mayAsk && idp !== undefined && { idp }),
    ...(tenant !== undefined && { tenant }),
    ...(rest.length > 0 && { acrValues: rest }),
  }
}

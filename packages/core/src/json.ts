/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export type JsonObject = { readonly [name: string]: Json }

/** Ports may return a value synchronously (from memory) or a promise (from a database). */
export type MaybePromise<T> = T | Promise<T>

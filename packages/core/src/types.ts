/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export type JsonObject = { readonly [name: string]: Json }

/** All members are optional, and `undefined` counts as absent. */
export type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** Ports may return a value synchronously (from memory) or a promise (from a database). */
export type MaybePromise<T> = T | Promise<T>

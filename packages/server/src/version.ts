// The build puts the version of the package here (tsup.config.ts): the single file has no manifest beside it to read.
declare const grantryVersion: string | undefined

/** The version of this server; `source` where it runs unbuilt. */
export const version: string = typeof grantryVersion === 'string' ? grantryVersion : 'source'

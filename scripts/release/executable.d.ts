export function writeExecutable(file: string, options?: { readonly server?: string | undefined }): void

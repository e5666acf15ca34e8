export function templateFilesDefine(): Record<string, string>

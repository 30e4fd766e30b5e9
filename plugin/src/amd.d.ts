declare module 'amd-module' {
  const amdModule: { uri?: string } | undefined;
  export default amdModule;
}

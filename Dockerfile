# Debian, not Alpine: the binaries of the HTTP transport need glibc. With another libc, svc falls back to node:http.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY .build .build
COPY src src
COPY workers workers
RUN npm run build:programs
# Keep only the binary of the HTTP transport for this platform.
RUN find dist/node_modules -mindepth 1 -maxdepth 1 \
  ! -name "*-$(node -p '`${process.platform}-${process.arch}-${process.versions.modules}`')" -exec rm -r {} +

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/dist/bin dist/bin
COPY --from=build /app/dist/assets dist/assets
COPY --from=build /app/dist/packages dist/packages
COPY --from=build /app/dist/node_modules dist/node_modules
COPY --from=build /app/dist/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY templates templates
RUN chmod +x dist/bin/svc.js && ln -s /app/dist/bin/svc.js /usr/local/bin/svc

# Mount your definitions over /srv/svc_src, which contains the samples.
#   docker run --rm -p 8080:2024 -v "$PWD/svc_src:/srv/svc_src:ro" --read-only --tmpfs /tmp svc
# Only /tmp must be writable: the primary hands the compiled program to the workers there.
WORKDIR /srv
COPY svc_src svc_src
# A number, because Kubernetes cannot check that a name is not root.
USER 1000:1000
EXPOSE 2024

# The check calls the port in SVC_PORT: set the port there and not with --port.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["svc", "healthcheck"]

# svc runs as process 1: on SIGTERM it drains its workers, and it reaps them. Allow time for the drain:
# docker stop --time 70
STOPSIGNAL SIGTERM
ENTRYPOINT ["svc"]
CMD ["serve"]

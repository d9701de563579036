# Weir as a service: docker build -t weir . && docker run -p 127.0.0.1:8080:8080 -v weir:/data weir
FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir "/src[kafka,mqtt,server]" && rm -rf /src
RUN useradd --create-home --uid 1000 weir && install --directory --owner weir /data
USER weir
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["weir"]
CMD ["serve", "--config", "/etc/weir/weir.toml", "--host", "0.0.0.0", "--data", "/data"]
